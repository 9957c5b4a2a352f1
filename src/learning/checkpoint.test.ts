import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeSafetensors } from '../core/safetensors.ts';
import { readCheckpoint, writeCheckpoint } from './checkpoint.ts';
import type { TrainingState } from './training.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-checkpoint-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'state.safetensors');

const state: TrainingState = {
  key: 'a key',
  theta: Float64Array.of(1 / 3, -2e-300, 5),
  adam: { step: 7, first: Float64Array.of(0.1, 0.2, 0.3), second: Float64Array.of(1, 2, 3) },
  best: { epoch: 1, theta: Float64Array.of(7, 11, 13) },
  curve: [
    { epoch: 0, loss: null, validation: 0.25 },
    { epoch: 1, loss: 1 / 7, validation: null },
  ],
};

test('a state is read back as it was, to the last bit', () => {
  writeCheckpoint(path, state);
  expect(readCheckpoint(path)).toEqual(state);
});

test('a file of another kind is refused', () => {
  writeSafetensors(path, { tensors: {}, metadata: { format: 'something' } });
  expect(() => readCheckpoint(path)).toThrow(/format: expected "ragpp-checkpoint-1", got "something"/);
  const metadata = { format: 'ragpp-checkpoint-1', key: 'a', step: '1', bestEpoch: '0' };
  writeSafetensors(path, { tensors: { validations: { shape: [1], data: Float32Array.of(1) } }, metadata });
  expect(() => readCheckpoint(path)).toThrow(`checkpoint ${path} has no float64 numbers: validations; delete the file`);
});
