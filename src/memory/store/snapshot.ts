import { z } from 'zod';
import { ChecksumMismatchError } from '../../core/errors/errors.ts';
import { readBytes, writeAtomic } from '../../core/files/files.ts';
import { readCheckedSafetensors, writeSafetensors } from '../../core/files/safetensors.ts';
import { computeCrc32, computeHash } from '../../core/hash/hash.ts';
import { JOURNAL_START, type JournalPosition, journalPosition } from '../../core/journal/position.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import type { MemoryRecord } from '../../model/turns/memory-record.ts';
import { encodeHead, joinRecords, joinVectors, type RecordHead } from './operation.ts';
import { listSnapshots, namePart, readSnapshotManifest, splitLines, writeSnapshotFolder } from './snapshot-folder.ts';

/** The records of a store after an entry of its journal. */
export interface Snapshot {
  readonly position: JournalPosition;
  readonly records: readonly MemoryRecord[];
}

/** Records of a part: a pair of files. */
const PART_RECORDS = 2048;

const manifestSchema = z.strictObject({
  position: journalPosition,
  dimension: z.number().nullable(),
  /** The records of each part, and the SHA-256 of its lines. */
  parts: z.array(z.strictObject({ records: z.number(), hash: z.string() })),
});
export type Manifest = z.output<typeof manifestSchema>;

const encodeLines = (records: readonly MemoryRecord[]) => records.map((record) => Buffer.from(encodeHead(record)));
const viewBytes = ({ buffer, byteOffset, byteLength }: Float32Array) => new Uint8Array(buffer, byteOffset, byteLength);

/** Writes a part: its vectors, with the CRC-32 of each vector and of each line for a repair, and its lines. @returns the hash of the lines. */
function writePart(path: string, records: readonly MemoryRecord[]): string {
  const lines = encodeLines(records);
  const checks = Int32Array.from(
    records.flatMap(({ embedding }, i) => [computeCrc32(viewBytes(embedding)), computeCrc32(lines[i] as Buffer)]),
  );
  const embeddings = joinVectors(records);
  writeSafetensors(`${path}.safetensors`, {
    tensors: {
      embeddings: { shape: [records.length, embeddings.length / records.length], data: embeddings },
      checks: { shape: [records.length, 2], data: checks },
    },
    metadata: {},
  });
  const text = Buffer.concat(lines.flatMap((line) => [line, Buffer.from('\n')]));
  writeAtomic(`${path}.jsonl`, text);
  return computeHash(text);
}

/**
 * Writes a snapshot as a folder that appears as a whole, and is on the disk when the promise resolves. Events are let in between parts.
 *
 * @throws StorageError; nothing is left then.
 */
export function writeSnapshot(folder: string, { position, records }: Snapshot): Promise<void> {
  return writeSnapshotFolder(folder, position, async (partial): Promise<Manifest> => {
    const parts: Manifest['parts'] = [];
    for (let start = 0; start < records.length; start += PART_RECORDS) {
      const part = records.slice(start, start + PART_RECORDS);
      parts.push({ records: part.length, hash: writePart(namePart(partial, parts.length), part) });
      await letEventsIn();
    }
    return { position, dimension: records[0]?.embedding.length ?? null, parts };
  });
}

/** @throws ChecksumMismatchError, StorageError. */
export const readManifest = (path: string, remedy: string): Manifest =>
  readSnapshotManifest(path, manifestSchema, remedy);

export const decodeLine = (line: Uint8Array) =>
  JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8')) as RecordHead;

function readPart(path: string, { hash }: Manifest['parts'][number], remedy: string): MemoryRecord[] {
  const { tensors } = readCheckedSafetensors(`${path}.safetensors`, remedy);
  const lines = readBytes(`${path}.jsonl`);
  if (computeHash(lines) !== hash) throw new ChecksumMismatchError(`${path}.jsonl`, 'its checksum differs', remedy);
  return joinRecords(splitLines(lines).map(decodeLine), tensors.embeddings?.data as Float32Array);
}

/**
 * Reads the latest snapshot of a folder; one without records before the first entry if there is none.
 *
 * @param remedy the end of the message about damage.
 * @throws ChecksumMismatchError, StorageError.
 */
export async function readSnapshot(folder: string, remedy: string): Promise<Snapshot> {
  const latest = listSnapshots(folder).at(-1);
  if (latest === undefined) return { position: JOURNAL_START, records: [] };
  const { parts, position } = readManifest(latest.path, remedy);
  const records: MemoryRecord[] = [];
  for (const [i, part] of parts.entries()) {
    for (const record of readPart(namePart(latest.path, i), part, remedy)) records.push(record);
    await letEventsIn();
  }
  return { position, records };
}
