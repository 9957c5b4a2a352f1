import { expect, test } from 'vitest';
import { buildHandmadeMatrix } from './pagerank.oracle.ts';
import { buildSeedDistributions } from './seed-distribution.ts';

// What is refused is tested with every solver, in pagerank-contract.harness.ts.
const matrix = buildHandmadeMatrix({ directed: true, nodes: ['d', 'a', 'c', 'b', 'e'], edges: [] });

test('weights are normalised, positions ascend, zeros are left out', () => {
  const queries = [
    new Map([
      ['d', 6],
      ['a', 2],
      ['c', 0],
    ]),
    new Map([['e', 5e-324]]),
  ];
  const found = buildSeedDistributions(matrix, queries);
  expect(found.map(({ positions, shares }) => [[...positions], [...shares]])).toEqual([
    [
      [0, 3],
      [0.25, 0.75],
    ],
    [[4], [1]],
  ]);
});

test('the order of the seeds does not move a bit', () => {
  const seeds: [string, number][] = [
    ['a', 0.1],
    ['b', 0.2],
    ['c', 0.3],
    ['d', 1e-17],
    ['e', 1e3],
  ];
  const [one, two] = buildSeedDistributions(matrix, [new Map(seeds), new Map(seeds.toReversed())]);
  expect(two).toEqual(one);
});
