import { extname } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { ValidationError } from '../../core/errors.ts';
import { writeAtomic } from '../../core/files.ts';
import { createTerminalProgress, type Progress } from '../../core/progress.ts';
import { writeSafetensors } from '../../core/safetensors.ts';
import { printOut } from '../../core/terminal.ts';
import { openStore } from '../../memory/store/open-store.ts';
import { encodeHead, joinVectors } from '../../memory/store/operation.ts';
import type { MemoryRecord } from '../../model/memory-record.ts';
import { assertMemory } from './memory/memory-folder.ts';
import { runWithOpened } from './memory/open-folder.ts';
import { writeNpy } from './memory/write-npy.ts';

type Records = readonly MemoryRecord[];

/** Numbers as JSON that reads back as the same numbers: JSON.stringify loses the sign of -0. */
const formatNumbers = (values: Float32Array) =>
  `[${Array.from(values, (value) => (Object.is(value, -0) ? '-0' : String(value))).join(',')}]`;

const formatLine = (record: MemoryRecord) =>
  `${encodeHead(record).slice(0, -1)},"embedding":${formatNumbers(record.embedding)}}\n`;

/** Texts as bytes: together they may be longer than a string can be. */
function encodeLines(records: Records, format: (record: MemoryRecord) => string, stage: Progress): Buffer {
  const lines = records.map((record, i) => {
    const line = Buffer.from(format(record));
    stage.update(i + 1);
    return line;
  });
  return Buffer.concat(lines);
}

const formatHead = (record: MemoryRecord) => `${encodeHead(record)}\n`;

function writeJsonl(path: string, records: Records, stage: Progress): readonly string[] {
  writeAtomic(path, encodeLines(records, formatLine, stage));
  return [path];
}

/** Tensors `vectors` [N, D] and `records`, the records as JSON Lines; `ids` in the metadata. */
function writeTensors(path: string, records: Records, stage: Progress): readonly string[] {
  const data = joinVectors(records);
  const lines = encodeLines(records, formatHead, stage);
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
function writeArray(path: string, records: Records, stage: Progress): readonly string[] {
  const base = path.slice(0, -extname(path).length);
  writeNpy(path, joinVectors(records), records.length);
  writeAtomic(`${base}.ids.json`, `${JSON.stringify(records.map(({ id }) => id))}\n`);
  writeAtomic(`${base}.jsonl`, encodeLines(records, formatHead, stage));
  return [path, `${base}.ids.json`, `${base}.jsonl`];
}

/** Of each column its type, and its value for a record; null where it has none. */
const COLUMNS: Readonly<Record<string, readonly ['BYTE_ARRAY' | 'DOUBLE', (record: MemoryRecord) => unknown]>> = {
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
};

/** A column a field, `embedding` as a list of floats; metadata, stats and trajectory as JSON texts. */
function writeParquet(path: string, records: Records): readonly string[] {
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
  const columnData = [
    { name: 'embedding', data: records.map(({ embedding }) => Array.from(embedding)) },
    ...fields.map(([name, [, read]]) => ({ name, data: records.map((record) => read(record)) })),
  ];
  writeAtomic(path, new Uint8Array(parquetWriteBuffer({ schema, columnData, statistics: false })));
  return [path];
}

/** By the ending of the file. @returns the files written */
const WRITERS: Readonly<Record<string, (path: string, records: Records, stage: Progress) => readonly string[]>> = {
  '.jsonl': writeJsonl,
  '.parquet': writeParquet,
  '.safetensors': writeTensors,
  '.npy': writeArray,
};

export async function runMemoryExport(folder: string, out: string): Promise<void> {
  assertMemory(folder);
  const ending = extname(out);
  const write = Object.hasOwn(WRITERS, ending) ? WRITERS[ending] : undefined;
  if (write === undefined)
    throw new ValidationError(`file to export to has another ending: ${out}; use ${Object.keys(WRITERS).join(', ')}`, {
      out,
    });
  await runWithOpened(await openStore(folder, { readOnly: true }), async (store) => {
    const records = [...store.records()];
    if (records.length === 0)
      throw new ValidationError(`memory has no records to export: ${folder}; import records first`, { folder });
    const stage = createTerminalProgress()('records', records.length);
    const files = write(out, records, stage);
    stage.finish(`${records.length} written`);
    printOut(`${files.join(', ')}: ${records.length} records of ${store.dimension} numbers\n`);
  });
}
