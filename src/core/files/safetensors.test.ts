import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ChecksumMismatchError, StorageError, ValidationError } from '../errors/errors.ts';
import { computeHash } from '../hash/hash.ts';
import { readCheckedSafetensors, readSafetensors, writeSafetensors } from './safetensors.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-safetensors-'));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'x.safetensors');
const data = Float32Array.from({ length: 15 }, (_, i) => i / 7);
const write = () =>
  writeSafetensors(path, {
    tensors: { rows: { shape: [3, 5], data }, bias: { shape: [2], data: Float32Array.of(1, 2) } },
    metadata: { encoder: 'lsa' },
  });

/** Writes a file of another program: a header of any JSON and 4 bytes of data. */
function writeForeign(header: unknown): void {
  const json = Buffer.from(JSON.stringify(header).padEnd(64));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.byteLength));
  writeFileSync(path, Buffer.concat([length, json, Buffer.of(7, 11, 13, 17)]));
}

test('what is written is read back', () => {
  write();
  expect(readCheckedSafetensors(path, '')).toEqual(readSafetensors(path, ''));
  const { tensors, metadata } = readSafetensors(path, 'delete it');
  expect(tensors.rows).toEqual({ shape: [3, 5], data });
  expect(tensors.bias?.data).toEqual(Float32Array.of(1, 2));
  expect(metadata.encoder).toBe('lsa');
});

test('every type of number is read back, from a place that it can be mapped at', () => {
  const tensors = {
    bytes: { shape: [3], data: Uint8Array.of(0, 128, 255) },
    counts: { shape: [1], data: Int32Array.of(-(2 ** 31)) },
    scores: { shape: [1, 2], data: Float32Array.of(-0, Number.POSITIVE_INFINITY) },
    moments: { shape: [2], data: Float64Array.of(2 ** 53 - 1, Number.NaN) },
  };
  writeSafetensors(path, { tensors, metadata: {} });
  expect(readSafetensors(path, '').tensors).toEqual(tensors);
  const bytes = readFileSync(path);
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString());
  expect(header.moments).toEqual({ dtype: 'F64', shape: [2], data_offsets: [0, 16] });
  expect(header.counts).toEqual({ dtype: 'I32', shape: [1], data_offsets: [16, 20] });
  expect(header.scores).toEqual({ dtype: 'F32', shape: [1, 2], data_offsets: [20, 28] });
  expect(header.bytes).toEqual({ dtype: 'U8', shape: [3], data_offsets: [28, 31] });
});

test('numbers of 16 bits are read as float32', () => {
  writeForeign({ x: { dtype: 'F16', shape: [2], data_offsets: [0, 4] } }); // bits 0x0b07 and 0x110d
  const { x } = readSafetensors(path, '').tensors;
  expect(x).toEqual({ shape: [2], data: Float32Array.of(0.00021445751190185547, 0.0006165504455566406) });
});

test('float32 is rounded to 16 bits where that is asked for, behind wider numbers', () => {
  const tensors = {
    third: { shape: [1], data: Float32Array.of(1 / 3) },
    count: { shape: [1], data: Int32Array.of(7) },
  };
  writeSafetensors(path, { tensors, metadata: {} }, { half: true });
  const bytes = readFileSync(path);
  const header = JSON.parse(bytes.subarray(8, 8 + Number(bytes.readBigUInt64LE())).toString());
  expect(header.third).toEqual({ dtype: 'F16', shape: [1], data_offsets: [4, 6] });
  expect([...bytes.subarray(-2)]).toEqual([0x55, 0x35]);
  expect(readCheckedSafetensors(path, '').tensors).toEqual({
    ...tensors,
    third: { shape: [1], data: Float32Array.of(0.333251953125) },
  });
});

test('numbers in bfloat16 are the upper half of float32', () => {
  writeForeign({ x: { dtype: 'BF16', shape: [2], data_offsets: [0, 4] } });
  const { x } = readSafetensors(path, '').tensors;
  const upper = Uint32Array.of(0x0b070000, 0x110d0000);
  expect(x).toEqual({ shape: [2], data: new Float32Array(upper.buffer) });
});

test('a type that the project does not know is refused', () => {
  writeForeign({ x: { dtype: 'F8_E4M3', shape: [2], data_offsets: [0, 2] } });
  expect(() => readSafetensors(path, 'delete it')).toThrow(ValidationError);
  expect(() => readSafetensors(path, 'delete it')).toThrow(
    /has the type F8_E4M3, which cannot be read; save it as F32, F64, F16 or BF16$/,
  );
});

test.each([
  ['a negative offset', [2], [-2, 0]],
  ['an offset between two bytes', [2], [0.5, 2.5]],
  ['offsets that are texts', [2], ['0', '2']],
  ['one offset', [2], [2]],
  ['a negative size', [-1, -2], [0, 2]],
  ['a size that is no integer', [0.5, 4], [0, 2]],
])('%s is refused', (_, shape, data_offsets) => {
  writeForeign({ x: { dtype: 'U8', shape, data_offsets } });
  expect(() => readSafetensors(path, 'delete it')).toThrow(ChecksumMismatchError);
  expect(() => readSafetensors(path, 'delete it')).toThrow('tensor x has no place');
});

test.each([
  [null, 'its header is not an object'],
  [[], 'its header is not an object'],
  [3, 'its header is not an object'],
  [{ __metadata__: null }, 'its metadata are not texts by name'],
  [{ __metadata__: [] }, 'its metadata are not texts by name'],
  [{ __metadata__: { sha256: 1 } }, 'its metadata are not texts by name'],
  [{ x: null }, 'tensor x has no place'],
])('a header %j is refused', (header, reason) => {
  writeForeign(header);
  expect(() => readSafetensors(path, 'delete it')).toThrow(ChecksumMismatchError);
  expect(() => readSafetensors(path, 'delete it')).toThrow(`damaged file ${path}: ${reason}; delete it`);
});

test('files without checksums, of other programs, are read, unless they must be ours', () => {
  const header = { x: { dtype: 'U8', shape: [4], data_offsets: [0, 4] } };
  writeForeign(header);
  expect(readSafetensors(path, '').tensors.x?.data).toEqual(Uint8Array.of(7, 11, 13, 17));
  expect(() => readCheckedSafetensors(path, 'delete it')).toThrow('it has no checksum of its header; delete it');
  writeForeign({ ...header, __metadata__: { headerSha256: computeHash({ ...header, __metadata__: {} }) } });
  expect(() => readCheckedSafetensors(path, 'delete it')).toThrow('it has no checksum of its data; delete it');
});

test('no bit can be changed without being noticed, unless what is read stays the same', () => {
  write();
  const intact = readFileSync(path);
  const { tensors } = readSafetensors(path, '');
  for (let at = 0; at < intact.byteLength; at++) {
    const bytes = Buffer.from(intact);
    bytes[at] = (bytes[at] as number) ^ (1 << (at % 8));
    writeFileSync(path, bytes);
    try {
      const read = readSafetensors(path, 'delete it');
      expect([at, read.tensors, read.metadata.encoder]).toEqual([at, tensors, 'lsa']);
    } catch (error) {
      expect(error).toBeInstanceOf(ChecksumMismatchError);
    }
  }
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
