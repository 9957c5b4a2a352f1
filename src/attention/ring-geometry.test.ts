import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { useBackend } from '../core/backend.ts';
import { TEST_BACKENDS } from '../core/backends.harness.ts';
import { admissibleKeys, positionDistances, ringGeometry } from './ring-geometry.ts';

const QUERIES = [0, 3, 6];
const KEYS = [0, 1, 3, 5, 6];
const SIZES = [7, 11, 13];

function geometryOf(ringSize: number | number[]) {
  const positions = (places: number[]) => tf.tensor1d(places, 'int32');
  return ringGeometry(
    positions(QUERIES),
    positions(KEYS),
    typeof ringSize === 'number' ? ringSize : positions(ringSize),
  );
}

/** [B, T] of a function of the positions. */
const table = <R>(value: (query: number, key: number, row: number) => R) =>
  QUERIES.map((query, row) => KEYS.map((key) => value(query, key, row)));

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  beforeAll(() => useBackend(backend));

  test('distances go the shorter way round a ring, and along a line', async () => {
    const around = (steps: number, size: number) => Math.min(steps, size - steps);
    const distances = (size: number | number[], topology: 'ring' | 'line') =>
      positionDistances(geometryOf(size), topology).array();
    expect(await distances(7, 'ring')).toEqual(table((i, j) => around(Math.abs(i - j), 7)));
    expect(await distances(7, 'line')).toEqual(table((i, j) => Math.abs(i - j)));
    expect(await distances(SIZES, 'ring')).toEqual(table((i, j, row) => around(Math.abs(i - j), SIZES[row] as number)));
    expect(await distances(1, 'line')).toEqual(table((i, j) => Math.abs(i - j)));
  });

  test.each(['include', 'exclude'] as const)('a direction and self %s decide which keys are seen', async (self) => {
    const seen = async (direction: 'none' | 'causal' | 'anticausal') => {
      const admissible = admissibleKeys(geometryOf(7), { direction, self });
      expect(admissible.dtype).toBe('bool');
      return (await admissible.array()).map((row) => row.map(Boolean));
    };
    const own = (i: number, j: number) => self === 'include' || i !== j;
    expect(await seen('none')).toEqual(table((i, j) => own(i, j)));
    expect(await seen('causal')).toEqual(table((i, j) => j <= i && own(i, j)));
    expect(await seen('anticausal')).toEqual(table((i, j) => j >= i && own(i, j)));
  });

  test('nothing leaks but what is returned', () => {
    const geometry = geometryOf(SIZES);
    const before = tf.memory().numTensors;
    tf.dispose([
      positionDistances(geometry, 'ring'),
      admissibleKeys(geometry, { direction: 'causal', self: 'exclude' }),
    ]);
    expect(tf.memory().numTensors).toBe(before);
  });
});
