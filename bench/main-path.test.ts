import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../src/core/tensors/backend.ts';
import { countProgram, tracePaths, traceProgram } from './main-path.ts';

beforeAll(() => useBackend('wasm'));

test('a hybrid arm with decay runs the code of at most 31 files besides core', async () => {
  const path = (await tracePaths()).get('hybrid, decay')!;
  const files = [...path.keys()].filter((file) => !file.startsWith('core/'));
  expect(files).toContain('rank/retrieval/retriever.ts');
  expect(files).toContain('rank/signals/bm25.ts');
  expect(files.length).toBeLessThanOrEqual(31);
  expect(path.get('index/vectors/hnsw.ts')).toContain('offerBest');
});

test.each([
  ['command', 120, { loaded: 265, functions: 1661, lines: 4123 }],
  ['code', 80, { loaded: 255, functions: 1117, lines: 3096 }],
])('one BM25 arm by %s runs code of at most %i files, and no more than is held here', (way, files, held) => {
  let path = traceProgram(way);
  let counts = countProgram(path);
  const listExcess = () =>
    Object.entries(held).filter(([what, most]) => counts[what as keyof typeof counts] > Math.ceil(1.02 * most));
  // On a busy machine a few lines that let events in run too; those of code that grew are so each time.
  for (let again = 0; again < 3 && listExcess().length > 0; again++) {
    path = traceProgram(way);
    counts = countProgram(path);
  }
  expect(counts.files).toBeLessThanOrEqual(files);
  expect(listExcess(), JSON.stringify(counts)).toEqual([]);
  expect(counts.lines).toBeGreaterThan(counts.functions);
  for (const file of ['attention-columns', 'placed-frames', 'trajectory-columns', 'curate-turns', 'bank/table-filler'])
    expect(path.has(`rank/signals/${file}.ts`), file).toBe(false);
  expect(path.has('rank/query/understand.ts')).toBe(false);
});
