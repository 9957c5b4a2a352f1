import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawBalancedFolds, type Fold, putRows, splitAsListed, splitByCluster } from './folds.ts';

const clusters = ['a', 'b', 'a', 'c', 'd', 'b', 'a', 'e', 'e', 'a'];

function assertPartition(folds: readonly Fold[], labels: readonly string[]): void {
  const seen = folds.flatMap(({ heldOut }) => [...heldOut]);
  expect(seen.sort((a, b) => a - b)).toEqual([...labels.keys()]);
  for (const { heldOut, training, clusters: names } of folds) {
    expect([...heldOut, ...training].sort((a, b) => a - b)).toEqual([...labels.keys()]);
    expect(new Set([...heldOut].map((row) => labels[row]))).toEqual(new Set(names));
    expect([...training].some((row) => names.includes(labels[row]!))).toBe(false);
  }
}

test('each cluster is held out once, alone', () => {
  const folds = splitByCluster({ clusters });
  assertPartition(folds, clusters);
  expect(folds.map((fold) => fold.clusters)).toEqual([['a'], ['b'], ['c'], ['d'], ['e']]);
});

test('folds of whole clusters have about as many queries each', () => {
  const folds = drawBalancedFolds({ clusters }, 3, 1);
  assertPartition(folds, clusters);
  expect(folds.map(({ heldOut }) => heldOut.length).sort()).toEqual([3, 3, 4]);
  expect(drawBalancedFolds({ clusters }, 3, 1)).toEqual(folds);
});

test('whatever the clusters, no fold is empty and none exceeds another by more than the largest cluster', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 2, maxLength: 40 }), fc.nat(), (labels, seed) => {
      const names = labels.map(String);
      const distinct = new Set(names).size;
      fc.pre(distinct >= 3);
      const folds = drawBalancedFolds({ clusters: names }, 3, seed);
      assertPartition(folds, names);
      const sizes = folds.map(({ heldOut }) => heldOut.length);
      const largest = Math.max(...[...new Set(names)].map((name) => names.filter((other) => other === name).length));
      expect(Math.min(...sizes)).toBeGreaterThan(0);
      expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThanOrEqual(largest);
    }),
  );
});

test.each([
  [() => splitByCluster({ clusters: ['a', 'a'] }), 'folds of 1 clusters; pass at least 2'],
  [() => drawBalancedFolds({ clusters }, 7, 1), '5 clusters cannot be divided into 7 folds; use 2 to 5'],
  [() => drawBalancedFolds({ clusters }, 1, 1), '5 clusters cannot be divided into 1 folds; use 2 to 5'],
])('too few clusters or folds are refused, %#', (make, message) => expect(make).toThrow(message));

test('rows go where they were held out from, and no other is touched', () => {
  const all = new Float32Array(10).fill(7);
  putRows(Float32Array.of(1, 2, 3, 4), [4, 1], 2, all);
  expect([...all]).toEqual([7, 7, 3, 4, 7, 7, 7, 7, 1, 2]);
});

describe('listed folds', () => {
  const table = { clusters: ['a', 'b', 'a', 'c', 'd'] };

  test('hold out what is listed, in that order', () => {
    const folds = splitAsListed(table, [
      ['c', 'a'],
      ['b', 'd'],
    ]);
    expect(folds.map(({ clusters, heldOut, training }) => [clusters, [...heldOut], [...training]])).toEqual([
      [
        ['c', 'a'],
        [0, 2, 3],
        [1, 4],
      ],
      [
        ['b', 'd'],
        [1, 4],
        [0, 2, 3],
      ],
    ]);
  });

  test('may list known conversations that the table has no rows of', () => {
    const groups = [
      ['c', 'left out', 'a'],
      ['b', 'd'],
    ];
    expect(splitAsListed(table, groups, ['a', 'left out'])).toEqual(
      splitAsListed(table, [
        ['c', 'a'],
        ['b', 'd'],
      ]),
    );
    expect(() => splitAsListed(table, [...groups, ['x']], ['left out', 'x'])).toThrow(
      'fold 2 has no conversation with a query; merge it with another fold or raise limitQueries',
    );
  });

  test.each([
    [
      [
        ['a', 'b'],
        ['c', 'd', 'a'],
      ],
      'conversation is listed twice, in folds 0 and 1: a; list it once',
    ],
    [
      [
        ['a', 'b', 'x'],
        ['c', 'd'],
      ],
      /^fold 0 lists a conversation without queries: x; use /,
    ],
    [[['a'], ['c']], '2 of 4 conversations are in no fold, the first: b; list every conversation with a query'],
    [[['a', 'b', 'c', 'd']], '1 folds; list at least 2'],
  ])('%j is refused', (groups, message) => {
    expect(() => splitAsListed(table, groups)).toThrow(message);
  });
});
