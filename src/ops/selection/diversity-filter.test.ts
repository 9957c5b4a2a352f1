import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { DIVERSITY_FILTER_DEFAULTS, type DiversityFilterOptions, diversityFilter } from './diversity-filter.ts';

type Matrix = number[][];

/** One query's candidates gone through by hand. */
function filterByHand(scores: number[], similarity: Matrix, present: number[], k: number) {
  const order = scores.map((_, c) => c).filter((c) => present[c] === 1);
  order.sort((a, b) => (scores[b] as number) - (scores[a] as number) || a - b);
  const taken: number[] = [];
  for (const c of order) {
    if (taken.length === k) break;
    const score = scores[c] as number;
    const redundancy = Math.max(...taken.map((other) => (similarity[c] as number[])[other] as number));
    if (taken.length === 0 || 0.7 * score - 0.3 * redundancy > 0.3 || score > 0.9) taken.push(c);
  }
  return [...taken, ...Array(k - taken.length).fill(-1)];
}

async function select(
  relevance: Matrix,
  similarities: Matrix[],
  mask: Matrix,
  k: number,
  options: Partial<DiversityFilterOptions> = {},
) {
  const shape: [number, number] = [relevance.length, (relevance[0] as number[]).length];
  const inputs = {
    relevance: tf.tensor2d(relevance.flat(), shape),
    similarities: tf.tensor3d(similarities.flat(2), [...shape, shape[1]]),
    mask: tf.tensor2d(mask.flat(), shape, 'bool'),
  };
  const before = tf.memory().numTensors;
  const selection = diversityFilter(inputs, { ...DIVERSITY_FILTER_DEFAULTS, ...options, k });
  expect([selection.slots.shape, selection.slots.dtype]).toEqual([[shape[0], k], 'int32']);
  const got = { slots: await selection.slots.array(), scores: await selection.scores.array() };
  tf.dispose(Object.values(selection));
  expect(() => diversityFilter(inputs, { ...DIVERSITY_FILTER_DEFAULTS, k: 0 })).toThrow(
    'k is not a positive integer: 0',
  );
  expect(tf.memory().numTensors).toBe(before);
  tf.dispose(Object.values(inputs));
  return got;
}

const source = createRandom(9, 'diversity-filter.test');
const drawMatrix = (rows: number, columns: number, value: () => number): Matrix =>
  Array.from({ length: rows }, () => Array.from({ length: columns }, value));

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each([3, 13, 17])('takes what going through the candidates takes, at most %d', async (K) => {
    const [B, C] = [7, 13];
    const relevance = drawMatrix(B, C, () => source.integer(41) / 40);
    const similarities = relevance.map(() => {
      const matrix = drawMatrix(C, C, () => 2 * source.uniform() - 1);
      return matrix.map((row, i) =>
        row.map((_, j) => (i === j ? 1 : (matrix[Math.min(i, j)]?.[Math.max(i, j)] as number))),
      );
    });
    const mask = drawMatrix(B, C, () => Number(source.uniform() < 0.8));
    mask[2] = Array(C).fill(0);
    mask[3] = mask[3]?.map((_, c) => Number(c === 5)) as number[];
    const got = await select(relevance, similarities, mask, K);
    const expected = relevance.map((row, b) => filterByHand(row, similarities[b] as Matrix, mask[b] as number[], K));
    expect(got.slots).toEqual(expected);
    expect(
      expected.some((row, b) => b !== 2 && b !== 3 && row.filter((slot) => slot >= 0).length < Math.min(K, C)),
    ).toBe(K > 3);
    for (const [b, row] of expected.entries())
      for (const [i, slot] of row.entries())
        expect(got.scores[b]?.[i]).toBeCloseTo(slot < 0 ? 0 : (relevance[b]?.[slot] as number), 6);
  });

  test('a duplicate is left out unless its score is above 0.9; the best is taken whatever it is', async () => {
    const alike = [
      [1, 1],
      [1, 1],
    ];
    const both = [[1, 1]];
    expect((await select([[0.8, 0.85]], [alike], both, 2)).slots).toEqual([[1, -1]]);
    expect((await select([[0.95, 0.92]], [alike], both, 2)).slots).toEqual([[0, 1]]);
    expect(
      (
        await select(
          [[0.1, 0.1]],
          [
            [
              [1, 0],
              [0, 1],
            ],
          ],
          both,
          2,
        )
      ).slots,
    ).toEqual([[0, -1]]);
  });

  test('a bound is not passed by what equals it', async () => {
    const unlike = [
      [
        [1, 0],
        [0, 1],
      ],
    ];
    const takeAt = async (score: number, bounds: { marginalAbove: number; scoreAbove: number }) =>
      (await select([[1, score]], unlike, [[1, 1]], 2, { lambda: 0.5, ...bounds })).slots;
    // The marginal relevance of the second candidate is half of its score.
    expect(await takeAt(0.5, { marginalAbove: 0.25, scoreAbove: 2 })).toEqual([[0, -1]]);
    expect(await takeAt(0.5, { marginalAbove: 0.125, scoreAbove: 2 })).toEqual([[0, 1]]);
    expect(await takeAt(0.5, { marginalAbove: 2, scoreAbove: 0.5 })).toEqual([[0, -1]]);
    expect(await takeAt(0.5, { marginalAbove: 2, scoreAbove: 0.25 })).toEqual([[0, 1]]);
  });

  test('one candidate, and none', async () => {
    expect((await select([[0.5]], [[[1]]], [[1]], 2)).slots).toEqual([[0, -1]]);
    expect((await select([[], []], [[], []], [[], []], 2)).slots).toEqual([
      [-1, -1],
      [-1, -1],
    ]);
  });
});
