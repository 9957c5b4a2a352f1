import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ChecksumMismatchError, ConfigurationError } from '../errors/errors.ts';
import {
  type BackendRecord,
  describeLibraries,
  listInstalled,
  locateBackend,
  readRecord,
  removeInstalled,
} from './installed-backends.ts';
import { RECIPES } from './recipes.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-installed-'));
beforeEach(() => vi.stubEnv('RAGPP_CACHE', root));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(join(root, 'backends'), { recursive: true, force: true });
});
afterAll(() => rmSync(root, { recursive: true }));

const packages = [{ name: '@tensorflow/tfjs-node-gpu', version: '4.22.0', integrity: 'sha512-x' }];

function writeRecord(name: 'cuda' | 'webgpu', text: string): string {
  const folder = locateBackend(name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'ragpp-backend.json'), text);
  return folder;
}

test('backends are in the folder of RAGPP_CACHE, or in the working directory', () => {
  expect(locateBackend('cuda')).toBe(join(root, 'backends', 'cuda'));
  vi.stubEnv('RAGPP_CACHE', undefined);
  expect(locateBackend('cuda')).toBe(join(process.cwd(), '.ragpp', 'backends', 'cuda'));
});

test('a backend is listed with its record and its size, and removed', () => {
  expect([listInstalled(), removeInstalled('cuda')]).toEqual([[], false]);
  const { tensorflow, libraries } = RECIPES.cuda.addon!;
  const record: BackendRecord = { name: 'cuda', packages, wheels: [tensorflow, ...libraries], node: 'v20.0.0' };
  const text = JSON.stringify(record);
  const folder = writeRecord('cuda', text);
  expect(listInstalled()).toEqual([{ ...record, folder, bytes: text.length }]);
  expect(describeLibraries()).toBe('CUDA 12.5.82, cuDNN 9.3.0.75');
  expect(removeInstalled('cuda')).toBe(true);
  expect(readdirSync(join(root, 'backends'))).toEqual([]);
});

test('a build for cards without libraries has none', () => {
  writeRecord('cuda', JSON.stringify({ name: 'cuda', packages, wheels: [], node: 'v20.0.0' }));
  expect(describeLibraries()).toBeNull();
});

test('a damaged record is an error that says what to do', () => {
  writeRecord('webgpu', '{');
  expect(() => readRecord('webgpu')).toThrow(ChecksumMismatchError);
  expect(() => readRecord('webgpu')).toThrow('run ragpp backend remove webgpu and install it again');
  writeRecord('webgpu', '{}');
  expect(() => readRecord('webgpu')).toThrow(ConfigurationError);
  expect(removeInstalled('webgpu')).toBe(true);
});

test('every recipe names the version of a package and the hash of a wheel', () => {
  for (const { packages: wanted, addon } of Object.values(RECIPES)) {
    for (const text of wanted) expect(text).toMatch(/^(?:@tensorflow\/)?[a-z-]+@\d+\.\d+\.\d+$/);
    const wheels = addon === undefined ? [] : [addon.tensorflow, ...addon.libraries];
    for (const { sha256, bytes } of wheels)
      expect([/^[0-9a-f]{64}$/.test(sha256), bytes > 500_000]).toEqual([true, true]);
  }
});
