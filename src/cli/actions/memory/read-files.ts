import { createReadStream, statSync } from 'node:fs';
import { extname } from 'node:path';
import { openParquet } from '../../../core/decoding/decoder.ts';
import { RagPlusPlusError, StorageError, ValidationError } from '../../../core/errors/errors.ts';
import { readSafetensors } from '../../../core/files/safetensors.ts';
import { streamLines } from '../../../core/files/text-lines.ts';
import { createEventBreaks } from '../../../core/terminal/progress.ts';
import {
  describeDepthFault,
  describeUnread,
  parseJson,
  type RowFaults,
  turnRow,
} from '../../../data/jsonl/jsonl-rows.ts';
import { RowFault, type RowRecord, readRecordRow } from '../../../memory/store/record-row.ts';
import { memoryRecordFields } from '../../../model/turns/turn.ts';

/** Fields of a row that are no attributes: a row with a text is a turn. */
const RECORD_COLUMNS: ReadonlySet<string> = new Set([...memoryRecordFields, 'salience']);
const TURN_COLUMNS: ReadonlySet<string> = new Set([...Object.keys(turnRow.shape), 'embedding']);
/** Columns that may be JSON texts. */
const JSON_COLUMNS = ['metadata', 'attributes', 'stats', 'trajectory'] as const;

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decodeText(bytes: Uint8Array): unknown {
  try {
    return utf8.decode(bytes);
  } catch {
    return bytes; // refused by the schema
  }
}

/** A value as JSON has it: whole numbers as numbers where they fit, bytes as text. */
function toPlain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value instanceof Uint8Array) return decodeText(value);
  if (Array.isArray(value)) return value.map(toPlain);
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toPlain(item)]));
}

const isTime = (value: unknown): value is Date => value instanceof Date && Number.isFinite(value.getTime());

const isMissing = (value: unknown) => value === null || value === undefined;

/** Attributes: a null is a missing value, and a time a text in ISO 8601. */
function toAttributes(values: object): Record<string, unknown> {
  const known = Object.entries(values).filter(([, value]) => !isMissing(value));
  return Object.fromEntries(known.map(([name, value]) => [name, isTime(value) ? value.toISOString() : value]));
}

/** The fields of a row: JSON texts are read, and columns of other names become attributes. Nulls are missing values. */
function readColumns(columns: Readonly<Record<string, unknown>>): unknown {
  const isTurn = !isMissing(columns.text);
  const [fields, key] = isTurn ? ([TURN_COLUMNS, 'attributes'] as const) : ([RECORD_COLUMNS, 'metadata'] as const);
  const row: Record<string, unknown> = {};
  const others: Record<string, unknown> = {};
  for (const [name, written] of Object.entries(columns)) {
    if (isMissing(written) && name !== 'parentId') continue;
    const isJson = (JSON_COLUMNS as readonly string[]).includes(name) && fields.has(name);
    const value = toPlain(written);
    const read = isJson && typeof value === 'string' ? parseJson(value) : value;
    if (read === undefined) return new RowFault(`${name}: expected JSON, got ${describeUnread(String(value))}`);
    (fields.has(name) ? row : others)[name] = read;
  }
  const own = row[key] ?? {};
  if (typeof own !== 'object' || Array.isArray(own)) return row; // refused by the schema
  return { ...row, [key]: toAttributes({ ...others, ...own }) };
}

/** The rows of a Parquet file. */
async function* readParquetRows(path: string): AsyncGenerator<{ readonly where: string; readonly row: unknown }> {
  const file = await openParquet(path, { utf8: false });
  let row = 0;
  try {
    if (file.columns.includes('__proto__'))
      // an object of JavaScript would drop its values
      throw new ValidationError(`column is named __proto__: ${path}; rename the column`, { path });
    for await (const batch of file.readBatches())
      for (const columns of batch) yield { where: `${path}:${++row}`, row: readColumns(columns) };
  } finally {
    await file.close();
  }
}

/** A row of a file, not yet a record. */
interface FileRow {
  readonly where: string;
  readonly row: unknown;
}

/** A record and its offset in all rows of the files, from 0; bad rows count too. */
export interface LocatedRecord {
  readonly where: string;
  readonly offset: number;
  /** True for a row with a text, which is a turn of a conversation. */
  readonly isTurn: boolean;
  readonly record: RowRecord;
}

/** Everything that was read. */
export interface ReadRows {
  readonly located: LocatedRecord[];
  /** Rows, with the bad ones. */
  readonly rows: number;
}

/** What can be read, by the ending of the file's name. */
export const RECORD_FORMATS = ['.jsonl', '.parquet', '.safetensors'] as const;

function readLine(line: string): unknown {
  const tooDeep = describeDepthFault(line);
  if (tooDeep !== null) return new RowFault(tooDeep);
  const row = parseJson(line);
  return row === undefined ? new RowFault(`not JSON: ${describeUnread(line)}`) : row;
}

async function* readJsonLines(path: string, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<FileRow> {
  for await (const { where, text } of streamLines(chunks, path))
    if (text.trim() !== '') yield { where, row: readLine(text) };
}

/** A file that `ragpp memory export` wrote: tensors `vectors` [N, D] and `records`, JSON Lines as bytes. */
async function* readSafetensorRows(path: string): AsyncGenerator<FileRow> {
  const { vectors, records } = readSafetensors(path, 'export it again').tensors;
  if (!(vectors?.data instanceof Float32Array) || !(records?.data instanceof Uint8Array))
    throw new ValidationError(
      `file has no records beside its vectors: ${path}; import a file of records, with --vectors ${path}`,
      { path },
    );
  const { data } = records;
  const dimension = vectors.shape[1] ?? 0;
  let offset = 0;
  const chunks = (async function* () {
    yield data;
  })();
  for await (const { where, row } of readJsonLines(path, chunks)) {
    const embedding = vectors.data.slice(offset * dimension, ++offset * dimension);
    yield { where, row: row instanceof RowFault ? row : { ...(row as object), embedding } };
  }
}

function readRows(path: string): AsyncGenerator<FileRow> {
  switch (extname(path)) {
    case '.jsonl':
      return readJsonLines(path, createReadStream(path));
    case '.parquet':
      return readParquetRows(path);
    case '.safetensors':
      return readSafetensorRows(path);
    default: {
      const remedy = extname(path) === '.npy' ? `import records with --vectors ${path}` : 'convert it';
      throw new ValidationError(
        `records are read from files that end in ${RECORD_FORMATS.join(', ')}, got: ${path}; ${remedy}`,
        { path },
      );
    }
  }
}

/** The remedy for a file that is there and is not Parquet that can be read; the usual one otherwise. */
function adviseOnFormat(path: string, error: unknown): { readonly remedy?: string } {
  const isOfSystem = typeof (error as NodeJS.ErrnoException).syscall === 'string';
  if (isOfSystem || extname(path) !== '.parquet') return {};
  return { remedy: 'write it as Parquet again' };
}

async function* readRowsNamingFile(path: string): AsyncGenerator<FileRow> {
  try {
    statSync(path);
    yield* readRows(path);
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    throw new StorageError('read', path, { cause: error, ...adviseOnFormat(path, error) });
  }
}

/** Reads the records of files, one after the other. Rows that are no record, and second rows of an id, are faults. @throws StorageError, ValidationError for another format. */
export async function readFiles(paths: readonly string[], faults: RowFaults): Promise<ReadRows> {
  const breakNow = createEventBreaks();
  const located: LocatedRecord[] = [];
  const first = new Map<string, string>();
  let rows = 0;
  for (const path of paths)
    for await (const { where, row } of readRowsNamingFile(path)) {
      const offset = rows++;
      const record = row instanceof RowFault ? row : readRecordRow(row);
      const earlier = record instanceof RowFault ? undefined : first.get(record.id);
      if (record instanceof RowFault) faults.add(where, 'malformed row', record.detail);
      else if (earlier !== undefined) faults.add(where, 'duplicate id', `${record.id}, also in ${earlier}; remove one`);
      else {
        first.set(record.id, where);
        located.push({ where, offset, isTurn: Object.hasOwn(row as object, 'text'), record });
      }
      await breakNow();
    }
  return { located, rows };
}
