import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { candidateAttention, mixUnifiedScores } from './attention-columns.ts';

const [B, C] = [5, 13];
const source = createRandom(3, 'attention-score.test');
const drawGrid = (value: () => number) => Array.from({ length: B }, () => Array.from({ length: C }, value));
const cosine = drawGrid(() => 2 * source.uniform() - 1);
const distance = drawGrid(() => 1 + source.integer(29));
// The third query has no candidate at all, the fourth a single one.
const mask = drawGrid(() => Number(source.uniform() < 0.7)).map((row, b) =>
  b === 2 ? row.map(() => 0) : b === 3 ? row.map((_, c) => Number(c === 7)) : row,
);

function computeExpectedRow(b: number, combine: string, decay: number, temperature: number): number[] {
  const powers = (cosine[b] as number[]).map((cos, c) => {
    if (mask[b]?.[c] === 0) return 0;
    const d = distance[b]?.[c] as number;
    const semantic = (1 + cos) / 2;
    return Math.exp(
      combine === 'multiplicative'
        ? (Math.exp(-decay * d) * semantic) / temperature
        : semantic / temperature - decay * d,
    );
  });
  const sum = powers.reduce((a, b) => a + b, 0);
  return powers.map((power) => (sum === 0 ? 0 : power / sum));
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each([
    ['multiplicative', 0.5, 0.1],
    ['additive', 0.3, 0.7],
  ] as const)("is the softmax over a query's own candidates: %s", async (combine, decay, temperature) => {
    const inputs = [tf.tensor2d(cosine), tf.tensor2d(distance), tf.tensor2d(mask, [B, C], 'bool')] as const;
    const before = tf.memory().numTensors;
    const weights = candidateAttention(...inputs, { combine, decay, temperature });
    const got = await weights.array();
    weights.dispose();
    expect(tf.memory().numTensors).toBe(before);
    const expected = cosine.map((_, b) => computeExpectedRow(b, combine, decay, temperature));
    for (const [b, row] of expected.entries())
      for (const [c, value] of row.entries()) expect(got[b]?.[c]).toBeCloseTo(value, 5);
    expect(got[2]).toEqual(Array(C).fill(0));
    expect(got[3]?.[7]).toBe(1);
    tf.dispose([...inputs]);
  });

  test('unified scores are the mix, which must sum to 1', async () => {
    const score = (value: number) => tf.fill([B, C], value) as tf.Tensor2D;
    const scores = { rcp: score(0.5), ircp: score(0.25), tpo: score(1) };
    const before = tf.memory().numTensors;
    const mix = mixUnifiedScores(scores, { rcp: 0.4, ircp: 0.4, tpo: 0.2 });
    expect((await mix.array())[4]?.[12]).toBeCloseTo(0.4 * 0.5 + 0.4 * 0.25 + 0.2, 6);
    mix.dispose();
    expect(() => mixUnifiedScores(scores, { rcp: 0.4, ircp: 0.4, tpo: 0.4 })).toThrow(
      'pass shares that sum to 1 within 0.01',
    );
    const turned = tf.zeros([C, B]) as tf.Tensor2D;
    expect(() => mixUnifiedScores({ ...scores, tpo: turned }, { rcp: 0.4, ircp: 0.4, tpo: 0.2 })).toThrow(
      'shape of tpo',
    );
    expect(tf.memory().numTensors).toBe(before + 1);
    tf.dispose([scores, turned]);
  });
});
