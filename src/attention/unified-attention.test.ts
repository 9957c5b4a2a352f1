import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/backends.harness.ts';
import { ValidationError } from '../core/errors.ts';
import { random } from '../core/random.ts';
import { sampleRows, tensorsOf } from './attention-rows.fixture.ts';
import { referenceWeights, steps, weighted, worstDifference } from './attention-weights.oracle.ts';
import { type UnifiedAttentionOptions, unifiedAttentionOptions } from './options.ts';
import type { TrajectoryAttentionInputs } from './trajectory-attention.ts';
import { assertMix, mixed, unifiedAttention } from './unified-attention.ts';

const MIX = { rcp: 0.5, ircp: 0.2, tpo: 0.3 };
const M = 5;
const source = random(7, 'unified-attention.test');
const points = (count: number) =>
  Array.from({ length: count }, () => Array.from({ length: M }, () => source.uniform()));
const [OWN, OTHERS] = [points(5), points(13)];

const CHOICES = (['literal', 'directed'] as const).flatMap((mode) =>
  (['ring', 'line'] as const).flatMap((topology) =>
    (['multiplicative', 'additive'] as const).flatMap((combine) =>
      (['include', 'exclude'] as const).flatMap((self) =>
        [false, true].map((isMasked) => ({ mode, topology, combine, self, isMasked })),
      ),
    ),
  ),
);

function inputsOf(isMasked: boolean): TrajectoryAttentionInputs {
  return {
    ...tensorsOf(sampleRows(isMasked)),
    queryCoordinates: tf.tensor2d(OWN),
    keyCoordinates: tf.tensor2d(OTHERS),
    coordinateWeights: tf.ones([M]) as tf.Tensor1D,
  };
}

/** `rcp RCP + ircp IRCP + tpo TPO`, each by its definition. */
function reference(isMasked: boolean, { mode, mix, topology, ...shared }: UnifiedAttentionOptions): number[][] {
  const rows = sampleRows(isMasked);
  const around = steps(rows, topology);
  const apart = (i: number, j: number) =>
    Math.hypot(...(OWN[i] as number[]).map((value, k) => value - (OTHERS[j]?.[k] as number)));
  const ring = (direction: 'causal' | 'anticausal') =>
    referenceWeights(rows, around, { ...shared, direction: mode === 'literal' ? 'none' : direction });
  const [rcp, ircp] = [ring('causal'), ring('anticausal')];
  const tpo = referenceWeights(rows, apart, { ...shared, direction: 'none' });
  return tpo.map((row, i) =>
    row.map((weight, j) => mix.rcp * (rcp[i]?.[j] as number) + mix.ircp * (ircp[i]?.[j] as number) + mix.tpo * weight),
  );
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(CHOICES)('$mode, $topology, $combine, self $self, masked $isMasked', async ({ isMasked, ...chosen }) => {
    const options = unifiedAttentionOptions.parse({ ...chosen, mix: MIX });
    const inputs = inputsOf(isMasked);
    const before = tf.memory().numTensors;
    const attention = unifiedAttention(inputs, options);
    expect(tf.memory().numTensors).toBe(before + 2);
    const expected = reference(isMasked, options);
    expect(worstDifference(await attention.weights.array(), expected)).toBeLessThan(1e-5);
    const output = weighted(expected, sampleRows(isMasked));
    expect(worstDifference(await attention.output.array(), output)).toBeLessThan(2e-5);
    tf.dispose([attention.weights, attention.output, ...Object.values(inputs)]);
  });

  test('literal RCP and IRCP are one, directed ones are not', async () => {
    const inputs = inputsOf(false);
    const weights = (mode: 'literal' | 'directed', rcp: number, ircp: number) =>
      unifiedAttention(inputs, unifiedAttentionOptions.parse({ mode, mix: { rcp, ircp, tpo: 0 } })).weights.array();
    expect(await weights('literal', 1, 0)).toEqual(await weights('literal', 0, 1));
    expect(await weights('directed', 1, 0)).not.toEqual(await weights('directed', 0, 1));
  });

  test.each([
    [{ rcp: 1, ircp: 1, tpo: 0 }, 'invalid mix: {"rcp":1,"ircp":1,"tpo":0}; pass shares that sum to 1 within 0.01'],
    [{ rcp: 0.4, ircp: 0.4, tpo: 0.18 }, 'pass shares that sum to 1 within 0.01'],
    [{ rcp: -0.5, ircp: 1, tpo: 0.5 }, 'expected number to be >=0'],
  ])('refuses the mix %j, and leaks nothing', (mix, message) => {
    const inputs = inputsOf(true);
    const before = tf.memory().numTensors;
    const options = { ...unifiedAttentionOptions.parse({}), mix };
    expect(() => unifiedAttention(inputs, options)).toThrow(ValidationError);
    expect(() => unifiedAttention(inputs, options)).toThrow(message);
    expect(tf.memory().numTensors).toBe(before);
    tf.dispose(Object.values(inputs));
  });

  test('parts of any shape are mixed by their shares', async () => {
    const parts = { rcp: tf.tensor1d([1, 2]), ircp: tf.tensor1d([10, 20]), tpo: tf.tensor1d([100, 0]) };
    expect(() => assertMix(MIX)).not.toThrow();
    const sum = mixed(parts, MIX);
    for (const [i, value] of (await sum.array()).entries()) expect(value).toBeCloseTo([32.5, 5][i] as number, 5);
    tf.dispose([sum, ...Object.values(parts)]);
  });
});
