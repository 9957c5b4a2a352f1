import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import {
  DimensionMismatchError,
  NotFiniteError,
  StorageError,
  UnavailableError,
  ValidationError,
} from '../../../core/errors/errors.ts';
import { writeSafetensors } from '../../../core/files/safetensors.ts';
import { readVectorFile } from './vector-file.ts';
import { decodeVectorSample, ROWS, type VectorSample } from './vector-files.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'vector-file-'));
afterAll(() => rmSync(root, { recursive: true }));

/** A folder of its own for each file, so that no sidecar is shared. */
function write(sample: VectorSample | Uint8Array, ending: string, sidecar: Record<string, string> = {}): string {
  const folder = mkdtempSync(join(root, 'x'));
  const path = join(folder, `v${ending}`);
  writeFileSync(path, typeof sample === 'string' ? decodeVectorSample(sample) : sample);
  for (const [name, text] of Object.entries(sidecar)) writeFileSync(join(folder, name), text);
  return path;
}

const IDS = { 'v.ids.txt': 'a\nb\nc\n' };
const read = (path: string, ids: string | null = null) => readVectorFile({ path, ids });

describe('vectors by id are read from', () => {
  test.each<[string, VectorSample, string, Record<string, string>, string[]]>([
    ['npy with ids in lines', 'float32', '.npy', IDS, ['a', 'b', 'c']],
    ['npy with ids in lines of Windows', 'float64', '.npy', { 'v.ids.txt': '\uFEFFa\r\nb b\r\nc' }, ['a', 'b b', 'c']],
    ['npy with ids in JSON', 'float16', '.npy', { 'v.ids.json': '["a", 7, "c\\nd"]' }, ['a', '7', 'c\nd']],
    ['safetensors with ids in the metadata', 'safetensors', '.safetensors', {}, ['a', 'b', 'c']],
    [
      'safetensors, the tensor of the name',
      'safetensors, two tensors of 16 bits',
      '.safetensors',
      IDS,
      ['a', 'b', 'c'],
    ],
    ['Parquet of two row groups', 'Parquet', '.parquet', {}, ['a', 'b', 'c']],
    ['Parquet with zstd', 'Parquet, zstd', '.parquet', {}, ['a', 'b', 'c']],
    ['Parquet with lists of fixed size', 'Parquet, whole numbers as ids', '.parquet', {}, ['10', '11', '12']],
  ])('%s', async (_, sample, ending, sidecar, ids) => {
    const file = await read(write(sample, ending, sidecar));
    expect([file.rows, file.dimension]).toEqual([3, 2]);
    expect(file.values).toEqual(Float32Array.from(ROWS.flat()));
    expect([...file.rowOf]).toEqual(ids.map((id, row) => [id, row]));
  });

  test('a sidecar that the options name, which goes before the metadata', async () => {
    const path = write('safetensors', '.safetensors', { 'own.txt': 'x\ny\nz' });
    const { rowOf } = await read(path, join(path, '..', 'own.txt'));
    expect([...rowOf.keys()]).toEqual(['x', 'y', 'z']);
  });
});

describe('an error', () => {
  test.each<[string, VectorSample, string, Record<string, string>, abstract new (...args: never[]) => Error, RegExp]>([
    [
      'names where ids are looked for',
      'float32',
      '.npy',
      {},
      UnavailableError,
      /^ids of \S+v\.npy is not available: neither \S+v\.ids\.json nor \S+v\.ids\.txt exists; write/,
    ],
    [
      'counts ids',
      'float32',
      '.npy',
      { 'v.ids.txt': 'a\nb' },
      DimensionMismatchError,
      /expected 3, one for each row, got 2/,
    ],
    [
      'names an id that occurs twice',
      'float32',
      '.npy',
      { 'v.ids.txt': 'a\nb\na' },
      ValidationError,
      /two vectors of one id, in rows 0 and 2: a; remove one/,
    ],
    [
      'names an empty line',
      'float32',
      '.npy',
      { 'v.ids.txt': 'a\n\nc\n' },
      ValidationError,
      /v\.ids\.txt, line 2: an id is a text or a whole number, got ""; correct/,
    ],
    [
      'names an id that is neither text nor whole',
      'float32',
      '.npy',
      { 'v.ids.json': '["a", 1.5, "c"]' },
      ValidationError,
      /item 2: .* got 1\.5;/,
    ],
    [
      'names JSON that is cut short',
      'float32',
      '.npy',
      { 'v.ids.json': '["a", ' },
      ValidationError,
      /v\.ids\.json is not JSON: /,
    ],
    ['names JSON that is no list', 'float32', '.npy', { 'v.ids.json': '{"a": 0}' }, ValidationError, /is no JSON list/],
    [
      'names the formats',
      'float32',
      '.bin',
      IDS,
      ValidationError,
      /another format: \S+v\.bin; use one that ends in \.npy, \.safetensors, \.parquet$/,
    ],
    [
      'names a null in a vector',
      'Parquet, nulls',
      '.parquet',
      {},
      ValidationError,
      /v\.parquet, row 0: the vector is no list of numbers/,
    ],
    [
      'names a missing column',
      'Parquet, no vectors',
      '.parquet',
      {},
      ValidationError,
      /has no column vector; write the columns id and vector$/,
    ],
    [
      'names a vector of another length',
      'Parquet, two lengths',
      '.parquet',
      {},
      ValidationError,
      /row 1 has 1 numbers, row 0 has 2/,
    ],
    [
      'says that a file is not Parquet',
      'float32',
      '.parquet',
      {},
      StorageError,
      /cannot read .*v\.parquet; write it as Parquet/,
    ],
    [
      'says that a file is not safetensors',
      'float32',
      '.safetensors',
      IDS,
      Error,
      /^damaged file \S+v\.safetensors: .*; write it again$/,
    ],
  ])('%s', async (_, sample, ending, sidecar, type, message) => {
    const error = await read(write(sample, ending, sidecar)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(type);
    expect((error as Error).message).toMatch(message);
  });

  test('names the first id and component that is not finite', async () => {
    const values = Float64Array.of(1, 2, 3, 1e300, Number.NaN, 6);
    const path = join(root, 'broken.safetensors');
    writeSafetensors(path, { tensors: { v: { shape: [3, 2], data: values } }, metadata: { ids: '["a","b","c"]' } });
    const error = await read(path).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NotFiniteError); // 1e300 is beyond float32
    expect((error as Error).message).toMatch(/broken\.safetensors is not finite at id b, component 1: Infinity; /);
  });

  test.each([
    ['several tensors without the name', { a: 2, b: 2 }, /has the tensors a, b, and none is named vectors; /],
    ['whole numbers', { vectors: 0 }, /has whole numbers; save vectors as F32/],
  ])('names %s', async (_, names, message) => {
    const path = join(root, 'tensors.safetensors');
    const data = (kind: number) => (kind === 0 ? Int32Array.of(1, 2) : Float32Array.of(1, 2));
    const tensors = Object.fromEntries(
      Object.entries(names).map(([name, kind]) => [name, { shape: [1, 2], data: data(kind) }]),
    );
    writeSafetensors(path, { tensors, metadata: { ids: '["a"]' } });
    await expect(read(path)).rejects.toThrow(message);
  });

  test('names a file that does not exist', async () => {
    for (const ending of ['.npy', '.safetensors', '.parquet'])
      await expect(read(join(root, `none${ending}`))).rejects.toThrow(StorageError);
  });
});
