import { expect, test } from 'vitest';
import { groupSignalFamilies } from './signal-families.ts';

test('a score with all that is spread of it is one family, a signal by itself another', () => {
  const families = groupSignalFamilies(['bm25', 'bm25@previous', 'bm25@session-mean', 'age', 'bm25-window']);
  expect([...families]).toEqual([
    ['bm25', ['bm25', 'bm25@previous', 'bm25@session-mean']],
    ['age', ['age']],
    ['bm25-window', ['bm25-window']],
  ]);
});

test('signals that differ in a number alone are one family', () => {
  const families = groupSignalFamilies(['decay.6h', 'decay.24h', 'rank-2', 'rank-13@next', 'f1', 'decay.24h*rank-2']);
  expect([...families]).toEqual([
    ['decay.Nh', ['decay.6h', 'decay.24h', 'decay.24h*rank-2']],
    ['rank-N', ['rank-2', 'rank-13@next', 'decay.24h*rank-2']],
    ['f1', ['f1']],
  ]);
});

test('a product goes with each of its factors, once with a square', () => {
  const families = groupSignalFamilies(['bm25@share', 'age', 'bm25@share*age', 'age*age']);
  expect([...families]).toEqual([
    ['bm25', ['bm25@share', 'bm25@share*age']],
    ['age', ['age', 'bm25@share*age', 'age*age']],
  ]);
});
