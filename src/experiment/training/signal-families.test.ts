import { expect, test } from 'vitest';
import { signalFamilies } from './signal-families.ts';

test('a score with all that is spread of it is one family, a signal by itself another', () => {
  const families = signalFamilies(['bm25', 'bm25:-1', 'bm25:session-mean', 'age', 'bm25-window-1']);
  expect([...families]).toEqual([
    ['bm25', ['bm25', 'bm25:-1', 'bm25:session-mean']],
    ['age', ['age']],
    ['bm25-window-1', ['bm25-window-1']],
  ]);
});

test('a product goes with each of its factors, once with a square', () => {
  const families = signalFamilies(['bm25:share', 'age', 'bm25:share × age', 'age × age']);
  expect([...families]).toEqual([
    ['bm25', ['bm25:share', 'bm25:share × age']],
    ['age', ['age', 'bm25:share × age', 'age × age']],
  ]);
});
