import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ChecksumMismatchError, StorageError } from './errors.ts';
import { readSafetensors, writeSafetensors } from './safetensors.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-safetensors-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'x.safetensors');
const data = Float32Array.from({ length: 15 }, (_, i) => i / 7);
const write = () =>
  writeSafetensors(path, {
    tensors: { rows: { shape: [3, 5], data }, bias: { shape: [2], data: Float32Array.of(1, 2) } },
    metadata: { encoder: 'lsa' },
  });

test('what is written is read back', () => {
  write();
  const { tensors, metadata } = readSafetensors(path, 'delete it');
  expect(tensors.rows).toEqual({ shape: [3, 5], data });
  expect(tensors.bias?.data).toEqual(Float32Array.of(1, 2));
  expect(metadata.encoder).toBe('lsa');
});

test('the bytes follow the published layout', () => {
  write();
  const bytes = readFileSync(path);
  const length = Number(bytes.readBigUInt64LE());
  expect(length % 8).toBe(0);
  const header = JSON.parse(bytes.subarray(8, 8 + length).toString());
  expect(header.rows).toEqual({ dtype: 'F32', shape: [3, 5], data_offsets: [0, 60] });
  expect(bytes.readFloatLE(8 + length + 4)).toBeCloseTo(1 / 7, 6);
  expect(bytes.byteLength).toBe(8 + length + 68);
});

test.each([
  ['cut in the data', (bytes: Buffer) => bytes.subarray(0, bytes.byteLength - 9), /needs bytes/],
  ['cut in the header', (bytes: Buffer) => bytes.subarray(0, 20), /header of/],
  ['empty', () => Buffer.alloc(0), /too few/],
  [
    'altered',
    (bytes: Buffer) => Buffer.concat([bytes.subarray(0, bytes.byteLength - 1), Buffer.of(0x77)]),
    /checksum differs/,
  ],
])('a file that is %s is refused with the remedy', (_, damage, reason) => {
  write();
  writeFileSync(path, damage(readFileSync(path)));
  expect(() => readSafetensors(path, 'delete it')).toThrow(ChecksumMismatchError);
  expect(() => readSafetensors(path, 'delete it')).toThrow(reason);
  expect(() => readSafetensors(path, 'delete it')).toThrow(/delete it/);
});

test('a file that is not there is a storage error', () => {
  expect(() => readSafetensors(join(folder, 'none'), '')).toThrow(StorageError);
});
