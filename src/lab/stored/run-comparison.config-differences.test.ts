import { expect, test } from 'vitest';
import { listConfigDifferences } from './run-comparison.ts';

test('only leaves that differ are reported, list entries by their name, else by index', () => {
  const first = {
    seed: 1,
    arms: [{ name: 'a', k: 10, on: true }, { name: 'b' }],
    depths: [1, 2],
    embedding: { encoder: 'lsa' },
  };
  const second = {
    seed: 1,
    arms: [{ name: 'b' }, { name: 'a', k: 20, on: true }],
    depths: [1, 3],
    embedding: { encoder: 'lsa', dimension: 512 },
  };
  expect(listConfigDifferences(first, second)).toEqual([
    { path: 'arms[a].k', first: 10, second: 20 },
    { path: 'depths[1]', first: 2, second: 3 },
    { path: 'embedding.dimension', first: undefined, second: 512 },
  ]);
});

test('null, an empty list and nothing are three things', () => {
  expect(listConfigDifferences({ a: null, b: [], c: {} }, { a: [], b: [] }).map(({ path }) => path)).toEqual([
    'a',
    'c',
  ]);
  expect(listConfigDifferences({ a: [], b: { c: 1 } }, { a: [], b: { c: 1 } })).toEqual([]);
});
