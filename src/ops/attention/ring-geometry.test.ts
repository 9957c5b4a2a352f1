import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { buildRingGeometry, computeAdmissibleKeys, computePositionDistances } from './ring-geometry.ts';

const QUERIES = [0, 3, 6];
const KEYS = [0, 1, 3, 5, 6];
const SIZES = [7, 11, 13];

function computeGeometry(ringSize: number | number[]) {
  const uploadPositions = (positions: number[]) => tf.tensor1d(positions, 'int32');
  return buildRingGeometry(
    uploadPositions(QUERIES),
    uploadPositions(KEYS),
    typeof ringSize === 'number' ? ringSize : uploadPositions(ringSize),
  );
}

/** [B, T] of a function of the positions. */
const tabulatePairs = <R>(value: (query: number, key: number, row: number) => R) =>
  QUERIES.map((query, row) => KEYS.map((key) => value(query, key, row)));

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('distances go the shorter way round a ring, and along a line', async () => {
    const countStepsAround = (steps: number, size: number) => Math.min(steps, size - steps);
    const computeRingDistances = (size: number | number[], topology: 'ring' | 'line') =>
      computePositionDistances(computeGeometry(size), topology).array();
    expect(await computeRingDistances(7, 'ring')).toEqual(
      tabulatePairs((i, j) => countStepsAround(Math.abs(i - j), 7)),
    );
    expect(await computeRingDistances(7, 'line')).toEqual(tabulatePairs((i, j) => Math.abs(i - j)));
    expect(await computeRingDistances(SIZES, 'ring')).toEqual(
      tabulatePairs((i, j, row) => countStepsAround(Math.abs(i - j), SIZES[row] as number)),
    );
    expect(await computeRingDistances(1, 'line')).toEqual(tabulatePairs((i, j) => Math.abs(i - j)));
  });

  test.each(['include', 'exclude'] as const)('a direction and self %s decide which keys are seen', async (self) => {
    const readAdmissible = async (direction: 'none' | 'causal' | 'anticausal') => {
      const admissible = computeAdmissibleKeys(computeGeometry(7), { direction, self });
      expect(admissible.dtype).toBe('bool');
      return (await admissible.array()).map((row) => row.map(Boolean));
    };
    const isSelfAdmitted = (i: number, j: number) => self === 'include' || i !== j;
    expect(await readAdmissible('none')).toEqual(tabulatePairs((i, j) => isSelfAdmitted(i, j)));
    expect(await readAdmissible('causal')).toEqual(tabulatePairs((i, j) => j <= i && isSelfAdmitted(i, j)));
    expect(await readAdmissible('anticausal')).toEqual(tabulatePairs((i, j) => j >= i && isSelfAdmitted(i, j)));
  });

  test('nothing leaks but what is returned', () => {
    const geometry = computeGeometry(SIZES);
    const before = tf.memory().numTensors;
    tf.dispose([
      computePositionDistances(geometry, 'ring'),
      computeAdmissibleKeys(geometry, { direction: 'causal', self: 'exclude' }),
    ]);
    expect(tf.memory().numTensors).toBe(before);
  });
});
