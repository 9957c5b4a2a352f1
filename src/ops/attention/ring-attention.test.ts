import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { COMBINATIONS } from './attention-options.cases.ts';
import { drawSampleRows, uploadPlainRows } from './attention-rows.fixture.ts';
import {
  computeReferenceWeights,
  countRingSteps,
  findWorstDifference,
  weighValues,
} from './attention-weights.oracle.ts';
import { RING_ATTENTION_DEFAULTS, type RingAttentionOptions } from './options.ts';
import { type AttentionInputs, ringAttention } from './ring-attention.ts';

// The formula is checked against figures of another program too, in src/lab/verification/topics.test.ts.
const [T, D, V] = [11, 5, 3];
const source = createRandom(6, 'ring-attention.test');
const drawPlainMatrix = (rows: number, columns: number) =>
  Array.from({ length: rows }, () => Array.from({ length: columns }, () => source.drawNormal()));
const embeddings = drawPlainMatrix(T, D);
const values = drawPlainMatrix(T, V);
const forward = Array.from({ length: T }, (_, i) => i);
const backward = forward.map((i) => T - 1 - i);

function buildRingInputs(positions: number[] = forward, rows = embeddings, mask?: number[][]): AttentionInputs {
  const turns = tf.tensor2d(rows);
  const places = tf.tensor1d(positions, 'int32');
  const inputs = { queries: turns, keys: turns, values: tf.tensor2d(values), ringSize: T };
  const shared = { ...inputs, queryPositions: places, keyPositions: places };
  return mask === undefined ? shared : { ...shared, mask: tf.tensor2d(mask, [T, T], 'bool') };
}

function computeRingWeights(inputs: AttentionInputs, options: Partial<RingAttentionOptions> = {}): Promise<number[][]> {
  return tf.tidy(() => ringAttention(inputs, { ...RING_ATTENTION_DEFAULTS, ...options }).weights).array();
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('reversed positions change nothing without a direction, and swap causal with anticausal', async () => {
    expect(await computeRingWeights(buildRingInputs(backward))).toEqual(
      await computeRingWeights(buildRingInputs(forward)),
    );
    expect(await computeRingWeights(buildRingInputs(backward), { direction: 'causal' })).toEqual(
      await computeRingWeights(buildRingInputs(forward), { direction: 'anticausal' }),
    );
    expect(await computeRingWeights(buildRingInputs(), { direction: 'causal' })).not.toEqual(
      await computeRingWeights(buildRingInputs(), { direction: 'anticausal' }),
    );
  });

  describe.each([
    ['all keys', false],
    ['masked keys', true],
  ])('fewer queries than keys, %s', (_, isMasked) => {
    test.each(COMBINATIONS)('%s', async (_, options) => {
      const rows = drawSampleRows(isMasked);
      const inputs = uploadPlainRows(rows);
      const attention = ringAttention(inputs, options);
      const expected = computeReferenceWeights(rows, countRingSteps(rows, options.topology), options);
      expect(findWorstDifference(await attention.weights.array(), expected)).toBeLessThan(1e-5);
      expect(findWorstDifference(await attention.output.array(), weighValues(expected, rows))).toBeLessThan(2e-5);
      const empty = expected.filter((row) => row.every((weight) => weight === 0)).length;
      expect(empty).toBeGreaterThanOrEqual(isMasked ? 1 : 0);
      expect(empty).toBeLessThan(expected.length - 1);
      tf.dispose([attention.weights, attention.output, ...Object.values(inputs)]);
    });
  });

  test('a mask takes keys away, all of them leave zeros', async () => {
    const mask = forward.map((i) => forward.map((j) => (i === 4 || j === 7 ? 0 : 1)));
    const weights = await computeRingWeights(buildRingInputs(forward, embeddings, mask));
    for (const [i, row] of weights.entries()) {
      expect(row[7]).toBe(0);
      expect(row.reduce((a, b) => a + b, 0)).toBeCloseTo(i === 4 ? 0 : 1, 5);
    }
    expect(weights[4]).toEqual(Array(T).fill(0));
  });

  test('a zero vector attends by distance alone, duplicates get equal weights at equal distances', async () => {
    const rows = embeddings.map((row, i) => (i === 3 ? Array(D).fill(0) : i === 6 ? (embeddings[2] as number[]) : row));
    const weights = await computeRingWeights(buildRingInputs(forward, rows));
    expect(weights.flat().every(Number.isFinite)).toBe(true);
    expect(weights[3]?.[2]).toBeCloseTo(weights[3]?.[4] as number, 6);
    expect(weights[4]?.[2]).toBe(weights[4]?.[6]);
  });

  test('a small temperature does not overflow', async () => {
    expect((await computeRingWeights(buildRingInputs(), { temperature: 1e-4 })).flat().every(Number.isFinite)).toBe(
      true,
    );
  });

  test('nothing leaks, also when it throws', () => {
    const inputs = buildRingInputs();
    const before = tf.memory().numTensors;
    const attention = ringAttention(inputs, RING_ATTENTION_DEFAULTS);
    expect(tf.memory().numTensors).toBe(before + 2);
    tf.dispose(attention);
    const places = tf.zeros([T]) as tf.Tensor1D;
    const attend = (changed: Partial<AttentionInputs>) => () =>
      ringAttention({ ...inputs, ...changed }, RING_ATTENTION_DEFAULTS);
    expect(attend({ queryPositions: places })).toThrow('positions have dtype float32');
    expect(attend({ mask: inputs.queries })).toThrow('shape of mask');
    expect(attend({ keys: inputs.values })).toThrow('shape of keys: expected [T, D] with B=11, D=5, T=11, got [11, 3]');
    expect(tf.memory().numTensors).toBe(before + 1);
    inputs.values.dispose(); // found out after the weights are made
    expect(attend({})).toThrow();
    expect(tf.memory().numTensors).toBe(before);
  });
});
