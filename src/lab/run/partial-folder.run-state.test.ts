import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { ChecksumMismatchError, ConfigurationError, StorageError, ValidationError } from '../../core/errors/errors.ts';
import { assertContinues, formatState, type RunState, readState } from './partial-folder.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-state-'));
afterAll(() => rmSync(folder, { recursive: true }));
const state: RunState = {
  hash: 'h',
  recordVersion: 'c',
  dataHash: 'd',
  backend: 'wasm',
  arms: ['a', 'b'],
  armsAtOnce: 3,
};
beforeEach(() => writeFileSync(join(folder, 'state.json'), formatState(state)));

test('a state comes back as it was written', () => {
  expect(readState(folder)).toEqual(state);
});

test('a run goes on with another choice of arms, but not with other code, data or backend', () => {
  expect(() => assertContinues(folder, { ...state, arms: ['b'] })).not.toThrow();
  expect(() => assertContinues(folder, { ...state, recordVersion: 'e', backend: 'cpu' })).toThrow(ValidationError);
  expect(() => assertContinues(folder, { ...state, recordVersion: 'e', backend: 'cpu' })).toThrow(
    `run cannot be resumed, since it was begun with another recordVersion, backend: ${folder}; run again without --resume`,
  );
});

test('where nothing was begun, there is nothing to differ from', () => {
  rmSync(join(folder, 'state.json'));
  expect(() => assertContinues(folder, state)).not.toThrow();
  expect(() => readState(folder)).toThrow(StorageError);
});

test('a state that is none is refused', () => {
  writeFileSync(join(folder, 'state.json'), JSON.stringify({ ...state, backend: 'abacus' }));
  expect(() => readState(folder)).toThrow(ConfigurationError);
});

test('a state that was cut short says how to go on', () => {
  writeFileSync(join(folder, 'state.json'), formatState(state).slice(0, 20));
  expect(() => readState(folder)).toThrow(ChecksumMismatchError);
  expect(() => readState(folder)).toThrow(/state\.json: not JSON; run again without --resume and --retry-failed$/);
});
