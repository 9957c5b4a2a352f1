import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { drawSampleRows, uploadPlainRows } from './attention-rows.fixture.ts';
import {
  computeReferenceWeights,
  countRingSteps,
  findWorstDifference,
  weighValues,
} from './attention-weights.oracle.ts';
import { type UnifiedAttentionOptions, unifiedAttentionOptions } from './options.ts';
import type { TrajectoryAttentionInputs } from './trajectory-attention.ts';
import { assertMix, mixAttentions, unifiedAttention } from './unified-attention.ts';

const MIX = { rcp: 0.5, ircp: 0.2, tpo: 0.3 };
const M = 5;
const source = createRandom(7, 'unified-attention.test');
const drawCoordinatePoints = (count: number) =>
  Array.from({ length: count }, () => Array.from({ length: M }, () => source.uniform()));
const [OWN, OTHERS] = [drawCoordinatePoints(5), drawCoordinatePoints(13)];

const CHOICES = (['literal', 'directed'] as const).flatMap((mode) =>
  (['ring', 'line'] as const).flatMap((topology) =>
    (['multiplicative', 'additive'] as const).flatMap((combine) =>
      (['include', 'exclude'] as const).flatMap((self) =>
        [false, true].map((isMasked) => ({ mode, topology, combine, self, isMasked })),
      ),
    ),
  ),
);

function buildUnifiedInputs(isMasked: boolean): TrajectoryAttentionInputs {
  return {
    ...uploadPlainRows(drawSampleRows(isMasked)),
    queryCoordinates: tf.tensor2d(OWN),
    keyCoordinates: tf.tensor2d(OTHERS),
    coordinateWeights: tf.ones([M]) as tf.Tensor1D,
  };
}

/** `rcp RCP + ircp IRCP + tpo TPO`, each by its definition. */
function mixReferences(isMasked: boolean, { mode, mix, topology, ...shared }: UnifiedAttentionOptions): number[][] {
  const rows = drawSampleRows(isMasked);
  const around = countRingSteps(rows, topology);
  const measureApart = (i: number, j: number) =>
    Math.hypot(...(OWN[i] as number[]).map((value, k) => value - (OTHERS[j]?.[k] as number)));
  const computeDirectedReference = (direction: 'causal' | 'anticausal') =>
    computeReferenceWeights(rows, around, { ...shared, direction: mode === 'literal' ? 'none' : direction });
  const [rcp, ircp] = [computeDirectedReference('causal'), computeDirectedReference('anticausal')];
  const tpo = computeReferenceWeights(rows, measureApart, { ...shared, direction: 'none' });
  return tpo.map((row, i) =>
    row.map((weight, j) => mix.rcp * (rcp[i]?.[j] as number) + mix.ircp * (ircp[i]?.[j] as number) + mix.tpo * weight),
  );
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(CHOICES)('$mode, $topology, $combine, self $self, masked $isMasked', async ({ isMasked, ...chosen }) => {
    const options = unifiedAttentionOptions.parse({ ...chosen, mix: MIX });
    const inputs = buildUnifiedInputs(isMasked);
    const before = tf.memory().numTensors;
    const attention = unifiedAttention(inputs, options);
    expect(tf.memory().numTensors).toBe(before + 2);
    const expected = mixReferences(isMasked, options);
    expect(findWorstDifference(await attention.weights.array(), expected)).toBeLessThan(1e-5);
    const output = weighValues(expected, drawSampleRows(isMasked));
    expect(findWorstDifference(await attention.output.array(), output)).toBeLessThan(2e-5);
    tf.dispose([attention.weights, attention.output, ...Object.values(inputs)]);
  });

  test('literal RCP and IRCP are one, directed ones are not', async () => {
    const inputs = buildUnifiedInputs(false);
    const computeModeWeights = (mode: 'literal' | 'directed', rcp: number, ircp: number) =>
      unifiedAttention(inputs, unifiedAttentionOptions.parse({ mode, mix: { rcp, ircp, tpo: 0 } })).weights.array();
    expect(await computeModeWeights('literal', 1, 0)).toEqual(await computeModeWeights('literal', 0, 1));
    expect(await computeModeWeights('directed', 1, 0)).not.toEqual(await computeModeWeights('directed', 0, 1));
  });

  test.each([
    [{ rcp: 1, ircp: 1, tpo: 0 }, 'invalid mix: {"rcp":1,"ircp":1,"tpo":0}; pass shares that sum to 1 within 0.01'],
    [{ rcp: 0.4, ircp: 0.4, tpo: 0.18 }, 'pass shares that sum to 1 within 0.01'],
    [{ rcp: -0.5, ircp: 1, tpo: 0.5 }, 'pass number >= 0 (rcp)'],
  ])('refuses the mix %j, and leaks nothing', (mix, message) => {
    const inputs = buildUnifiedInputs(true);
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
    const sum = mixAttentions(parts, MIX);
    for (const [i, value] of (await sum.array()).entries()) expect(value).toBeCloseTo([32.5, 5][i] as number, 5);
    tf.dispose([sum, ...Object.values(parts)]);
  });
});
