import * as tf from '@tensorflow/tfjs-core';
import { describe, expect, test } from 'vitest';
import { TEST_BACKENDS } from '../../core/tensors/backends.harness.ts';
import { useBackendWithoutLeaks } from '../../core/tensors/leaks.harness.ts';
import type { FeatureTable } from './feature-table.ts';
import { listTrajectorySignals } from './model.ts';
import { uploadTrajectory } from './trajectory-inputs.ts';
import { drawTrajectoryTable } from './trajectory-table.fixture.ts';

/** One query with two candidates and a place of padding; the named signals of each, 0 where none is given. */
function buildInputsTable(...candidates: Record<string, number>[]): FeatureTable {
  const table = drawTrajectoryTable(1, 3, 3, 1);
  const { signals } = table;
  const values = new Float32Array(3 * signals.length);
  for (const [c, numbers] of candidates.entries())
    for (const [f, name] of signals.entries()) values[c * signals.length + f] = numbers[name] ?? 0;
  return { ...table, values, mask: Uint8Array.of(1, 1, 0) };
}

async function readUploaded(table: FeatureTable): Promise<Record<string, number[]>> {
  const inputs = uploadTrajectory(table, { dimensions: 3, self: 'include' });
  const read: Record<string, number[]> = {};
  for (const [name, tensor] of Object.entries(inputs)) read[name] = [...(await tensor.data())];
  tf.dispose(inputs);
  return read;
}

test('signals have names, those of the coordinates by the system', () => {
  const names = listTrajectorySignals(3);
  expect(names.filter((name) => name.startsWith('coordinate.'))).toEqual([
    'coordinate.depth',
    'coordinate.temporal',
    'coordinate.homogeneity',
  ]);
  expect(names.filter((name) => name.startsWith('ahead.')).at(-1)).toBe('ahead.8');
  expect(new Set(names).size).toBe(names.length);
});

describe.each(TEST_BACKENDS)('on %s', (backend) => {
  useBackendWithoutLeaks(backend);

  test('ages count from the newest candidate, so that a row of old ones does not fade as a whole', async () => {
    const { ages } = await readUploaded(buildInputsTable({ 'age.hours': 9007 }, { 'age.hours': 9000 }));
    expect(ages).toEqual([7, 0, 0]);
  });

  test('at a cold start the temporal difference alone is squared', async () => {
    const differences = { 'coordinate.depth': 2, 'coordinate.temporal': -3, 'coordinate.homogeneity': 0.5 };
    const { squares } = await readUploaded(buildInputsTable(differences, { ...differences, 'cold-start': 1 }));
    expect(squares).toEqual([4, 0, 0, 9, 9, 0, 0.25, 0, 0]);
  });

  test('a candidate sees the query, itself, the turns right after it by the shorter way, and the others as one', async () => {
    const near = { cosine: 0.5, 'ring.distance': 2, 'ahead.count': 3, 'ahead.1': 1, 'ahead.2': -1, 'ahead.3': 0 };
    const far = { cosine: -1, 'ring.distance': 11, 'ahead.count': 10, 'ahead.8': 0.5 };
    const { forwardLikeness, forwardDistance, forwardBias } = await readUploaded(buildInputsTable(near, far));
    // The ring has 2 + 4 places: the third turn ahead is three steps away, either way round.
    expect(forwardLikeness!.slice(0, 11)).toEqual([0.75, 1, 1, 0, 0.5, 0, 0, 0, 0, 0, 0]);
    expect(forwardDistance!.slice(0, 11)).toEqual([2, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0]);
    expect(forwardBias!.slice(0, 5)).toEqual([0, 0, 0, 0, 0]);
    expect(Math.max(...forwardBias!.slice(5, 11))).toBeLessThan(-1e29);
    expect(forwardLikeness!.slice(11, 22)).toEqual([0, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.75, 0]);
    expect(forwardDistance!.slice(11, 22)).toEqual([11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0]);
    expect(forwardBias![21]).toBeCloseTo(Math.log(2), 6);
  });
});
