import { extname } from 'node:path';
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import { ValidationError } from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import { writeSafetensors } from '../../core/files/safetensors.ts';
import {
  createEventBreaks,
  createTerminalProgress,
  letEventsIn,
  type Progress,
  printOut,
  type StartProgress,
} from '../../core/terminal/progress.ts';
import { computeSalience } from '../../memory/conservation/salience.ts';
import { findOrigin } from '../../memory/conservation/salience-stream.ts';
import { openStore } from '../../memory/store/open-store.ts';
import { encodeHead, joinVectors } from '../../memory/store/operation.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import { readMemoryFolder } from './memory/memory-folder.ts';
import { runWithOpened } from './memory/open-folder.ts';

const ALIGNMENT = 64;
/** Magic string, version 1.0, and 2 bytes of length. */
const PREFIX_BYTES = 10;

/** Writes a matrix [rows, D] of float32 as npy version 1.0, atomically. numpy.lib.format. */
function writeNpy(path: string, values: Float32Array, rows: number): void {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${values.length / rows}), }`;
  const length = Math.ceil((PREFIX_BYTES + text.length + 1) / ALIGNMENT) * ALIGNMENT - PREFIX_BYTES;
  const prefix = Buffer.from('\x93NUMPY\x01\x00\x00\x00', 'latin1');
  prefix.writeUInt16LE(length, PREFIX_BYTES - 2);
  const header = Buffer.from(`${text.padEnd(length - 1)}\n`, 'latin1');
  writeAtomic(path, Buffer.concat([prefix, header, Buffer.from(values.buffer, values.byteOffset, values.byteLength)]));
}

/** A record with its salience among all that are exported, which depends on the newest of them. */
interface ExportedRecord extends MemoryRecord {
  readonly salience: number;
}

type Records = readonly ExportedRecord[];

function addSalience(records: readonly MemoryRecord[], halfLifeHours: number | null): Records {
  const origin = findOrigin(records) ?? 0;
  return records.map((record) => ({ ...record, salience: computeSalience(record, halfLifeHours, origin) }));
}

/** Numbers as JSON that reads back as the same numbers: JSON.stringify loses the sign of -0. */
const formatNumbers = (values: Float32Array) =>
  `[${Array.from(values, (value) => (Object.is(value, -0) ? '-0' : String(value))).join(',')}]`;

const formatLine = (record: MemoryRecord) =>
  `${encodeHead(record).slice(0, -1)},"embedding":${formatNumbers(record.embedding)}}\n`;

/** Texts as bytes: together they may be longer than a string can be. */
async function encodeLines(
  records: Records,
  format: (record: MemoryRecord) => string,
  stage: Progress,
): Promise<Buffer> {
  const breakNow = createEventBreaks();
  const lines: Buffer[] = [];
  for (const record of records) {
    stage.update(lines.push(Buffer.from(format(record))));
    await breakNow();
  }
  return Buffer.concat(lines);
}

const formatHead = (record: MemoryRecord) => `${encodeHead(record)}\n`;

async function writeJsonl(path: string, records: Records, stage: Progress): Promise<readonly string[]> {
  writeAtomic(path, await encodeLines(records, formatLine, stage));
  return [path];
}

/** Tensors `vectors` [N, D] and `records`, the records as JSON Lines; `ids` in the metadata. */
async function writeTensors(path: string, records: Records, stage: Progress): Promise<readonly string[]> {
  const data = joinVectors(records);
  const lines = await encodeLines(records, formatHead, stage);
  writeSafetensors(path, {
    tensors: {
      vectors: { shape: [records.length, data.length / records.length], data },
      records: { shape: [lines.byteLength], data: lines },
    },
    metadata: { ids: JSON.stringify(records.map(({ id }) => id)) },
  });
  return [path];
}

/** The vectors, and beside them their ids and their records. */
async function writeArray(path: string, records: Records, stage: Progress): Promise<readonly string[]> {
  const base = path.slice(0, -extname(path).length);
  writeNpy(path, joinVectors(records), records.length);
  writeAtomic(`${base}.ids.json`, `${JSON.stringify(records.map(({ id }) => id))}\n`);
  writeAtomic(`${base}.jsonl`, await encodeLines(records, formatHead, stage));
  return [path, `${base}.ids.json`, `${base}.jsonl`];
}

/** Of each column its type, and its value for a record; null where it has none. */
const COLUMNS: Readonly<Record<string, readonly ['BYTE_ARRAY' | 'DOUBLE', (record: ExportedRecord) => unknown]>> = {
  id: ['BYTE_ARRAY', ({ id }) => id],
  context: ['BYTE_ARRAY', ({ context }) => context],
  outcome: ['DOUBLE', ({ outcome }) => outcome],
  metadata: ['BYTE_ARRAY', ({ metadata }) => JSON.stringify(metadata)],
  createdAt: ['DOUBLE', ({ createdAt }) => createdAt],
  stats: ['BYTE_ARRAY', ({ stats }) => JSON.stringify(stats)],
  trajectory: ['BYTE_ARRAY', ({ trajectory }) => (trajectory === null ? null : JSON.stringify(trajectory))],
  conversationId: ['BYTE_ARRAY', ({ conversationId }) => conversationId],
  parentId: ['BYTE_ARRAY', ({ parentId }) => parentId],
  author: ['BYTE_ARRAY', ({ author }) => author],
  channel: ['BYTE_ARRAY', ({ channel }) => channel],
  salience: ['DOUBLE', ({ salience }) => salience],
};

/** Numbers of the vectors of a row group: the time to write one is a fraction of a second. */
const GROUP_NUMBERS = 2 ** 19;

/** A column a field, `embedding` as a list of floats; metadata, stats and trajectory as JSON texts. */
async function writeParquet(path: string, records: Records, stage: Progress): Promise<readonly string[]> {
  const fields = Object.entries(COLUMNS);
  const schema = [
    { name: 'root', num_children: fields.length + 1 },
    { name: 'embedding', repetition_type: 'OPTIONAL' as const, num_children: 1, converted_type: 'LIST' as const },
    { name: 'list', repetition_type: 'REPEATED' as const, num_children: 1 },
    { name: 'element', type: 'FLOAT' as const, repetition_type: 'REQUIRED' as const },
    ...fields.map(([name, [type]]) => ({
      name,
      type,
      repetition_type: 'OPTIONAL' as const,
      ...(type === 'BYTE_ARRAY' ? { converted_type: 'UTF8' as const } : {}),
    })),
  ];
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({ writer, schema, statistics: false });
  const size = Math.max(1, Math.floor(GROUP_NUMBERS / (records[0]?.embedding.length ?? 1)));
  for (let start = 0; start < records.length; start += size) {
    const group = records.slice(start, start + size);
    const columnData = [
      { name: 'embedding', data: group.map(({ embedding }) => Array.from(embedding)) },
      ...fields.map(([name, [, read]]) => ({ name, data: group.map((record) => read(record)) })),
    ];
    await parquet.write({ columnData, rowGroupSize: group.length });
    stage.update(start + group.length);
    await letEventsIn();
  }
  await parquet.finish();
  writeAtomic(path, new Uint8Array(writer.getBuffer()));
  return [path];
}

/** By the ending of the file. @returns the files written */
const WRITERS: Readonly<
  Record<string, (path: string, records: Records, stage: Progress) => Promise<readonly string[]>>
> = {
  '.jsonl': writeJsonl,
  '.parquet': writeParquet,
  '.safetensors': writeTensors,
  '.npy': writeArray,
};

/** @throws ValidationError for a file with another ending. */
function findWriter(out: string): (typeof WRITERS)[string] {
  const ending = extname(out);
  const write = Object.hasOwn(WRITERS, ending) ? WRITERS[ending] : undefined;
  if (write !== undefined) return write;
  throw new ValidationError(`file to export to has another ending: ${out}; use ${Object.keys(WRITERS).join(', ')}`, {
    out,
  });
}

/**
 * Writes records in the format that the ending of the file names, each with its salience.
 *
 * @param halfLifeHours of the salience; null: nothing fades.
 * @returns the files written
 * @throws ValidationError for another ending; StorageError.
 */
export async function exportRecords(
  out: string,
  records: readonly MemoryRecord[],
  halfLifeHours: number | null,
  progress: StartProgress,
): Promise<readonly string[]> {
  const stage = progress('records', records.length);
  const files = await findWriter(out)(out, addSalience(records, halfLifeHours), stage);
  stage.finish(`${records.length} written`);
  return files;
}

export async function runMemoryExport(folder: string, out: string): Promise<void> {
  const { halfLifeHours } = readMemoryFolder(folder).settings.conservation;
  findWriter(out);
  await runWithOpened(await openStore(folder, { readOnly: true }), async (store) => {
    const records = [...store.records()];
    if (records.length === 0)
      throw new ValidationError(`memory has no records to export: ${folder}; import records first`, { folder });
    const files = await exportRecords(out, records, halfLifeHours, createTerminalProgress());
    printOut(`${files.join(', ')}: ${records.length} records of ${store.dimension} numbers\n`);
  });
}
