import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { drawSampleRows, uploadPlainRows } from './attention-rows.fixture.ts';
import { computeReferenceWeights, findWorstDifference, weighValues } from './attention-weights.oracle.ts';
import { RING_ATTENTION_DEFAULTS } from './options.ts';
import { type TrajectoryAttentionInputs, trajectoryAttention } from './trajectory-attention.ts';

const source = createRandom(4, 'trajectory-attention.test');
const drawCoordinatePoints = (count: number, dimensions: number) =>
  Array.from({ length: count }, () => Array.from({ length: dimensions }, () => source.uniform()));
const { topology: _, direction: __, ...DEFAULTS } = RING_ATTENTION_DEFAULTS;

const CHOICES = ([3, 5, 7] as const).flatMap((dimensions) =>
  (['multiplicative', 'additive'] as const).flatMap((combine) =>
    (['include', 'exclude'] as const).flatMap((self) =>
      [false, true].map((isMasked) => ({ dimensions, combine, self, isMasked })),
    ),
  ),
);

function drawPlacedInputs(
  dimensions: number,
  isMasked: boolean,
): { inputs: TrajectoryAttentionInputs; numbers: number[][][] } {
  const rows = drawSampleRows(isMasked);
  const [own, others] = [
    drawCoordinatePoints(rows.queries.length, dimensions),
    drawCoordinatePoints(rows.keys.length, dimensions),
  ];
  const weights = Array.from({ length: dimensions }, (_, i) => 0.3 + 0.2 * i);
  const inputs = {
    ...uploadPlainRows(rows),
    queryCoordinates: tf.tensor2d(own),
    keyCoordinates: tf.tensor2d(others),
    coordinateWeights: tf.tensor1d(weights),
  };
  return { inputs, numbers: [own, others, [weights]] };
}

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test.each(CHOICES)(
    '$dimensions coordinates, $combine, self $self, masked $isMasked',
    async ({ dimensions, combine, self, isMasked }) => {
      const rows = drawSampleRows(isMasked);
      const { inputs, numbers } = drawPlacedInputs(dimensions, isMasked);
      const [own, others, [weights]] = numbers as [number[][], number[][], [number[]]];
      const computePlainDistance = (i: number, j: number) =>
        Math.sqrt(
          weights.reduce((sum, w, k) => sum + w * ((own[i]?.[k] as number) - (others[j]?.[k] as number)) ** 2, 0),
        );
      const options = { ...DEFAULTS, combine, self };
      const before = tf.memory().numTensors;
      const attention = trajectoryAttention(inputs, options);
      expect(tf.memory().numTensors).toBe(before + 2);
      const expected = computeReferenceWeights(rows, computePlainDistance, { ...options, direction: 'none' });
      expect(findWorstDifference(await attention.weights.array(), expected)).toBeLessThan(1e-5);
      expect(findWorstDifference(await attention.output.array(), weighValues(expected, rows))).toBeLessThan(2e-5);
      tf.dispose([attention.weights, attention.output, ...Object.values(inputs)]);
    },
  );

  test('coordinates that do not fit are refused, and nothing leaks', () => {
    const { inputs } = drawPlacedInputs(5, true);
    const [narrow, short] = [tf.zeros([13, 3]), tf.zeros([5])] as [tf.Tensor2D, tf.Tensor1D];
    const before = tf.memory().numTensors;
    const attend = (changed: object) => () => trajectoryAttention({ ...inputs, ...changed }, DEFAULTS);
    expect(attend({ keyCoordinates: narrow })).toThrow(DimensionMismatchError);
    expect(attend({ keyCoordinates: narrow })).toThrow('shape of keyCoordinates: expected [T, M] with');
    expect(attend({ coordinateWeights: tf.tensor1d([1, 2]) })).toThrow('shape of coordinateWeights');
    expect(tf.memory().numTensors).toBe(before + 1); // the weights made for the line before
    tf.dispose([narrow, short, ...Object.values(inputs)]);
  });
});
