import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { groupIntoClusters } from '../intervals/clusters.ts';
import { computeClusteredTests } from './significance.ts';
import { computeSmallestCorrectedP, computeSmallestP } from './smallest-p.ts';
import type { CorrectionName, TestName } from './test-names.ts';

const LARGE = 1 / 1_000_001;

test.each([
  ['permutation', 1, 1],
  ['permutation', 4, 2 / 16],
  ['permutation', 6, 2 / 64],
  ['permutation', 201, LARGE],
  ['wilcoxon', 4, 2 / 16],
  ['t', 1, 1],
  ['t', 2, 1],
  ['t', 3, 2 / 8],
  ['t', 6, 2 / 64],
  ['t', 29, 2 ** -28],
  ['t', 30, 0],
] as const)('%s of %i clusters', (name, clusters, expected) => {
  expect(computeSmallestP(name, clusters)).toBeCloseTo(expected, 15);
});

test.each([
  ['holm', 7 * 2 ** -5],
  ['benjamini-hochberg', 2 ** -5],
  ['none', 2 ** -5],
] as const)('%s of seven columns of 6 clusters', (correction, expected) => {
  expect(computeSmallestCorrectedP('permutation', correction, 6, 7)).toBeCloseTo(expected, 15);
});

test('a correction gives no p above 1', () => {
  expect(computeSmallestCorrectedP('permutation', 'holm', 4, 17)).toBe(1);
});

test.each(['permutation', 'wilcoxon', 't'] as const)('differences all one way reach it: %s', (name) => {
  for (const [groups, columns] of [
    [1, 2],
    [2, 1],
    [5, 3],
    [11, 1],
  ] as const) {
    const clusters = groupIntoClusters(Array.from({ length: 2 * groups }, (_, i) => `g${i % groups}`));
    const ones = Array.from({ length: columns }, () => new Float64Array(2 * groups).fill(0.5));
    for (const correction of ['holm', 'none'] as CorrectionName[])
      for (const { correctedP } of computeClusteredTests(ones, clusters, {
        test: name,
        correction,
        seed: 3,
        samples: 997,
      }))
        expect(correctedP).toBe(computeSmallestCorrectedP(name, correction, groups, columns));
  }
});

test('no differences get below it', () => {
  const stream = createRandom(5, 'smallest-p test');
  for (const name of ['permutation', 'wilcoxon', 't'] as TestName[])
    for (let groups = 2; groups <= 17; groups += 3) {
      const clusters = groupIntoClusters(Array.from({ length: 3 * groups }, (_, i) => `g${i % groups}`));
      const columns = Array.from({ length: 5 }, () => Float64Array.from(clusters.of, () => 3 + stream.drawNormal()));
      for (const { p } of computeClusteredTests(columns, clusters, { test: name, seed: 3, samples: 997 }))
        expect(p).toBeGreaterThanOrEqual(computeSmallestP(name, groups));
    }
});
