import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { StorageError, ValidationError } from '../../../core/errors/errors.ts';
import { readNpy } from './npy.ts';
import { decodeVectorSample, ROWS, type VectorSample } from './vector-files.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'npy-'));
afterAll(() => rmSync(root, { recursive: true }));
const path = join(root, 'v.npy');

function readBytes(bytes: Uint8Array) {
  writeFileSync(path, bytes);
  return readNpy(path);
}

describe('npy', () => {
  test.each<VectorSample>(['float32', 'float64', 'float16', 'version 2', 'version 3'])('%s is read', (sample) => {
    expect(readBytes(decodeVectorSample(sample))).toEqual({
      rows: 3,
      dimension: 2,
      values: Float32Array.from(ROWS.flat()),
    });
  });

  test.each<[VectorSample, RegExp]>([
    ['Fortran order', /v\.npy is in Fortran order; save numpy\.ascontiguousarray\(vectors\)$/],
    ['big-endian', /has numbers of type >f4, expected <f4, <f8, <f2; save vectors\.astype\('<f4'\)$/],
    ['int64', /has numbers of type <i8, /],
    ['one dimension', /has an array of shape \[2\], expected \[vectors, dimension\]; save a matrix/],
    ['no rows', /has an array of shape \[0, 2\]/],
  ])('%s is an error that says what to save', (sample, message) => {
    expect(() => readBytes(decodeVectorSample(sample))).toThrow(message);
  });

  test('every file that is cut short is an error, and so is one that goes on', () => {
    const bytes = decodeVectorSample('float32');
    for (let length = 0; length < bytes.length; length++)
      expect(() => readBytes(bytes.subarray(0, length)), `${length} bytes`).toThrow(ValidationError);
    expect(() => readBytes(Buffer.concat([bytes, Buffer.of(0)]))).toThrow(/has 153 bytes, expected 152 for its shape/);
  });

  test('another kind of file is an error, and so is none', () => {
    expect(() => readBytes(Buffer.alloc(200))).toThrow(/v\.npy is not an npy file; save it with numpy\.save$/);
    expect(() => readNpy(join(root, 'none.npy'))).toThrow(StorageError);
    expect(() => readNpy(root)).toThrow(StorageError);
  });

  test('a file larger than a part is read whole', () => {
    const columns = 1021;
    const rows = 4111; // 16.8 MB, beyond the first part
    const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${columns}), }`.padEnd(117);
    const length = Buffer.alloc(2);
    length.writeUInt16LE(118);
    const start = Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), length, Buffer.from(`${header}\n`)]);
    const values = Float32Array.from({ length: rows * columns }, (_, i) => i);
    const read = readBytes(Buffer.concat([start, Buffer.from(values.buffer)]));
    expect([read.rows, read.dimension]).toEqual([rows, columns]);
    expect(Buffer.from(read.values.buffer).equals(Buffer.from(values.buffer))).toBe(true);
  });
});
