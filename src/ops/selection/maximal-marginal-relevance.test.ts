import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { maximalMarginalRelevance } from './maximal-marginal-relevance.ts';

type Matrix = number[][];

/** Greedy selection of one query's candidates, as the formula has it. */
function selectByHand(relevance: number[], similarity: Matrix, present: number[], lambda: number, k: number) {
  const slots: number[] = [];
  const scores: number[] = [];
  while (slots.length < k) {
    let [best, bestScore] = [-1, Number.NEGATIVE_INFINITY];
    for (let c = 0; c < relevance.length; c++) {
      if (present[c] === 0 || slots.includes(c)) continue;
      const redundancy = Math.max(...slots.map((slot) => (similarity[slot] as number[])[c] as number));
      const score = lambda * (relevance[c] as number) - (slots.length === 0 ? 0 : (1 - lambda) * redundancy);
      if (score > bestScore) [best, bestScore] = [c, score];
    }
    slots.push(best);
    scores.push(best < 0 ? 0 : bestScore);
  }
  return { slots, scores };
}

async function select(relevance: Matrix, similarities: Matrix[], mask: Matrix, lambda: number, k: number) {
  const shape: [number, number] = [relevance.length, (relevance[0] as number[]).length];
  const inputs = {
    relevance: tf.tensor2d(relevance.flat(), shape),
    similarities: tf.tensor3d(similarities.flat(2), [...shape, shape[1]]),
    mask: tf.tensor2d(mask.flat(), shape, 'bool'),
  };
  const before = tf.memory().numTensors;
  const selection = maximalMarginalRelevance(inputs, { lambda, k });
  expect([selection.slots.shape, selection.slots.dtype]).toEqual([[shape[0], k], 'int32']);
  const got = { slots: await selection.slots.array(), scores: await selection.scores.array() };
  tf.dispose(Object.values(selection));
  expect(() => maximalMarginalRelevance({ ...inputs, mask: inputs.relevance }, { lambda: 2, k })).toThrow('lambda');
  expect(tf.memory().numTensors).toBe(before);
  tf.dispose(Object.values(inputs));
  return got;
}

const source = createRandom(8, 'maximal-marginal-relevance.test');
const drawMatrix = (rows: number, columns: number, value: () => number): Matrix =>
  Array.from({ length: rows }, () => Array.from({ length: columns }, value));

/** Symmetric, ones on the diagonal; in sixteenths, so that float32 sums are exact and ties real. */
function drawSimilarity(count: number): Matrix {
  const matrix = drawMatrix(count, count, () => source.integer(33) / 16 - 1);
  return matrix.map((row, i) =>
    row.map((_, j) => (i === j ? 1 : (matrix[Math.min(i, j)]?.[Math.max(i, j)] as number))),
  );
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each([0, 0.25, 0.5, 1])(
    'takes what the greedy rule takes, ties to the lower place, lambda %d',
    async (lambda) => {
      const [B, C, K] = [7, 13, 17];
      const relevance = drawMatrix(B, C, () => source.integer(9) / 8);
      const similarities = relevance.map(() => drawSimilarity(C));
      const mask = drawMatrix(B, C, () => Number(source.uniform() < 0.8));
      mask[2] = Array(C).fill(0);
      mask[3] = Array(C)
        .fill(0)
        .map((_, c) => Number(c === 5));
      const got = await select(relevance, similarities, mask, lambda, K);
      for (const [b, row] of relevance.entries()) {
        const expected = selectByHand(row, similarities[b] as Matrix, mask[b] as number[], lambda, K);
        expect(got.slots[b]).toEqual(expected.slots);
        for (const [k, score] of expected.scores.entries()) expect(got.scores[b]?.[k]).toBeCloseTo(score, 6);
      }
      expect(got.slots[2]).toEqual(Array(K).fill(-1));
      expect(got.slots[3]).toEqual([5, ...Array(K - 1).fill(-1)]);
    },
  );

  test('the first has no redundancy, a duplicate of it comes after what is new', async () => {
    const similarity = [
      [1, 1, 0],
      [1, 1, 0],
      [0, 0, 1],
    ];
    const got = await select([[0.9, 0.9, 0.5]], [similarity], [[1, 1, 1]], 0.5, 3);
    expect(got.slots).toEqual([[0, 2, 1]]);
    expect(got.scores[0]?.map((score) => score.toFixed(6))).toEqual(['0.450000', '0.250000', '-0.050000']);
  });

  test('one candidate, and none', async () => {
    expect((await select([[0.5]], [[[1]]], [[1]], 0.7, 2)).slots).toEqual([[0, -1]]);
    expect(await select([[], []], [[], []], [[], []], 0.7, 2)).toEqual({
      slots: [
        [-1, -1],
        [-1, -1],
      ],
      scores: [
        [0, 0],
        [0, 0],
      ],
    });
  });
});
