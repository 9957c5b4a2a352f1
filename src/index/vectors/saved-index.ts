import { createHash } from 'node:crypto';
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { ChecksumMismatchError, StorageError, ValidationError } from '../../core/errors/errors.ts';
import { makeFolder, readBytes, readFolder, readText, writeAtomic } from '../../core/files/files.ts';
import { encodeHeader, readCheckedSafetensors } from '../../core/files/safetensors.ts';
import { computeHashOfParts } from '../../core/hash/hash.ts';
import { joinViews } from '../../core/journal/frame.ts';
import { check } from '../../core/validation/validation.ts';
import type { FilterSubject } from '../../model/filter/filter.ts';
import type { Distance } from '../../model/vector-index.ts';
import type { PreparedRow } from './vector-doors.ts';

/** The options of an index, as they are written beside its rows. */
export type SavedOptions = { readonly index: string; readonly distance: Distance } & Readonly<Record<string, unknown>>;

/** A row with its place in a graph that was saved beside it. */
export type SavedRow = PreparedRow & { readonly slot: number };

const MANIFEST = 'index.json';
const REMEDY = 'save the index again';
const FORMAT = 1;

const manifestSchema = z.strictObject({
  format: z.literal(FORMAT),
  options: z.looseObject({ index: z.string(), distance: z.enum(['cosine', 'l2', 'inner-product']) }),
  dimension: z.int().min(1),
  /** SHA-256 by name of file: the vectors, the rows, and what the index added. */
  files: z.record(z.string(), z.string()),
});

export interface SavedIndex {
  readonly options: SavedOptions;
  readonly dimension: number;
  readonly rows: readonly SavedRow[];
  /** The path of a file whose name begins so, undefined if there is none. */
  readonly findPart: (prefix: string) => string | undefined;
}

/** SHA-256 in hex of a file of any size. @throws StorageError. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    await pipeline(createReadStream(path), hash);
  } catch (error) {
    throw new StorageError('read', path, { cause: error });
  }
  return hash.digest('hex');
}

/** Rows that are one part of their file. */
const PART_ROWS = 4096;

function encodeRows(rows: readonly SavedRow[]): Uint8Array[] {
  const encode = ({ slot, id, subject, vector }: SavedRow) =>
    `${JSON.stringify({ slot, id, subject, hasVector: vector !== null })}\n`;
  return Array.from({ length: Math.ceil(rows.length / PART_ROWS) }, (_, part) =>
    Buffer.from(
      rows
        .slice(part * PART_ROWS, (part + 1) * PART_ROWS)
        .map(encode)
        .join(''),
    ),
  );
}

/**
 * Writes an index: vectors as safetensors, rows as JSON Lines, and last the file that names both. File names carry a hash of the content, so that an
 * interrupted save leaves the former state. Files that are no longer named are removed.
 *
 * @param parts names of files that the index wrote into the folder itself.
 */
export async function writeSavedIndex(
  folder: string,
  options: SavedOptions,
  dimension: number,
  rows: readonly SavedRow[],
  parts: readonly string[],
): Promise<void> {
  makeFolder(folder);
  const zeros = new Float32Array(dimension);
  const data = joinViews(rows.map(({ vector }) => vector ?? zeros));
  const dataHash = computeHashOfParts(data);
  const shape = [rows.length, dimension];
  const header = encodeHeader(
    [{ name: 'vectors', dtype: 'F32', shape, bytes: rows.length * zeros.byteLength }],
    dataHash,
  );
  const lines = encodeRows(rows);
  const lineHash = computeHashOfParts(lines);
  const [vectorFile, rowFile] = [`vectors-${dataHash.slice(0, 16)}.safetensors`, `rows-${lineHash.slice(0, 16)}.jsonl`];
  writeAtomic(join(folder, vectorFile), [header, ...data]);
  writeAtomic(join(folder, rowFile), lines);
  const files: Record<string, string> = { [vectorFile]: computeHashOfParts([header, ...data]), [rowFile]: lineHash };
  for (const name of parts) files[name] = await hashFile(join(folder, name));
  const manifest = { format: FORMAT, options, dimension, files };
  writeAtomic(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`);
  for (const name of readFolder(folder))
    if (/^(?:vectors|rows|graph)-/.test(name) && !Object.hasOwn(files, name)) rmSync(join(folder, name));
}

function readManifest(folder: string): z.output<typeof manifestSchema> {
  const path = join(folder, MANIFEST);
  let json: unknown;
  const text = readText(path);
  try {
    json = JSON.parse(text);
  } catch {
    throw new ChecksumMismatchError(path, 'it is not JSON', REMEDY);
  }
  const read = check(manifestSchema, json);
  if ('value' in read) return read.value;
  const [fault] = read.faults;
  throw new ChecksumMismatchError(path, `${fault?.path} is not ${fault?.expected}`, REMEDY);
}

/** Lines of the file of rows; decoded in pieces, since a text of Node is shorter than a file may be. */
function* readLines(bytes: Uint8Array): Generator<string> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let start = 0; start < buffer.length; ) {
    const end = buffer.indexOf(10, start);
    yield buffer.toString('utf8', start, end);
    start = end + 1;
  }
}

/**
 * Reads what {@link writeSavedIndex} wrote.
 *
 * @throws ChecksumMismatchError for a file that was altered or truncated, StorageError for one that is missing.
 */
export async function readSavedIndex(folder: string): Promise<SavedIndex> {
  const { options, dimension, files } = readManifest(folder);
  for (const [name, expected] of Object.entries(files)) {
    const path = join(folder, name);
    if ((await hashFile(path)) !== expected)
      throw new ChecksumMismatchError(path, 'its checksum differs from that in index.json', REMEDY);
  }
  const findPart = (prefix: string): string | undefined => {
    const name = Object.keys(files).find((file) => file.startsWith(prefix));
    return name === undefined ? undefined : join(folder, name);
  };
  const [vectorPath, rowPath] = [findPart('vectors-'), findPart('rows-')];
  if (vectorPath === undefined || rowPath === undefined)
    throw new ValidationError(`index.json of ${folder} names no vectors or no rows; ${REMEDY}`);
  const { data } = readCheckedSafetensors(vectorPath, REMEDY).tensors.vectors!;
  const rows = [...readLines(readBytes(rowPath))].map((line, i) => {
    const { hasVector, ...row } = JSON.parse(line) as { slot: number; id: string; subject: FilterSubject } & {
      hasVector: boolean;
    };
    const vector = hasVector ? (data.subarray(i * dimension, (i + 1) * dimension) as Float32Array) : null;
    return { ...row, vector };
  });
  return { options, dimension, rows, findPart };
}
