import { createReadStream, statSync } from 'node:fs';
import { extname } from 'node:path';
import { RagPlusPlusError, StorageError, ValidationError } from '../../../core/errors/errors.ts';
import { readSafetensors } from '../../../core/files/safetensors.ts';
import { streamLines } from '../../../core/files/text-lines.ts';
import { createEventBreaks } from '../../../core/values/event-loop.ts';
import { describeDepthFault } from '../../../data/jsonl/json-depth.ts';
import { describeUnread, parseJson } from '../../../data/jsonl/jsonl-rows.ts';
import type { RowFaults } from '../../../data/jsonl/row-faults.ts';
import { readParquetRows } from './parquet-rows.ts';
import { RowFault, type RowRecord, readRecordRow } from './record-rows.ts';

/** A row of a file, not yet a record. */
interface FileRow {
  readonly where: string;
  readonly row: unknown;
}

/** A record and its offset in all rows of the files, from 0; bad rows count too. */
export interface LocatedRecord {
  readonly where: string;
  readonly offset: number;
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
        located.push({ where, offset, record });
      }
      await breakNow();
    }
  return { located, rows };
}
