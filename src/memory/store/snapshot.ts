import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { computeCrc32 } from '../../core/crc32.ts';
import { ChecksumMismatchError, RagPlusPlusError, StorageError } from '../../core/errors.ts';
import { letEventsIn } from '../../core/event-loop.ts';
import { readBytes, readFolder, syncFolder, writeAtomic } from '../../core/files.ts';
import { computeHash } from '../../core/hash.ts';
import { readCheckedSafetensors, writeSafetensors } from '../../core/safetensors.ts';
import type { MemoryRecord } from '../../model/memory-record.ts';
import { encodeHead, joinRecords, joinVectors, type RecordHead } from './operation.ts';

/** The records of a store after the operation `sequence`. */
export interface Snapshot {
  readonly sequence: number;
  readonly records: readonly MemoryRecord[];
}

/** Records of a part: a pair of files. */
const PART_RECORDS = 2048;
const MANIFEST = 'snapshot.json';
const PARTIAL = '.partial';
const SNAPSHOT = /^snapshot-(\d{16})$/;

const manifestSchema = z.strictObject({
  sequence: z.number(),
  dimension: z.number().nullable(),
  /** The records of each part, and the SHA-256 of its lines. */
  parts: z.array(z.strictObject({ records: z.number(), hash: z.string() })),
});
export type Manifest = z.output<typeof manifestSchema>;

export const namePart = (folder: string, part: number) => join(folder, `part-${String(part).padStart(6, '0')}`);

/** Does file work. @throws StorageError with the path. */
function runNamingSnapshot(action: string, path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw error instanceof RagPlusPlusError ? error : new StorageError(action, path, { cause: error });
  }
}

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

/** The snapshots in a folder, the earliest first. */
export function listSnapshots(folder: string): { readonly path: string; readonly sequence: number }[] {
  return readFolder(folder).flatMap((name) => {
    const [, sequence] = SNAPSHOT.exec(name) ?? [];
    return sequence === undefined ? [] : { path: join(folder, name), sequence: Number(sequence) };
  });
}

/** Removes unfinished snapshots, and those before a sequence. @throws StorageError. */
export function removeSnapshots(folder: string, before: number): void {
  const unfinished = readFolder(folder).filter((name) => name.startsWith('snapshot-') && name.endsWith(PARTIAL));
  const earlier = listSnapshots(folder).filter(({ sequence }) => sequence < before);
  for (const path of [...unfinished.map((name) => join(folder, name)), ...earlier.map((found) => found.path)])
    runNamingSnapshot('remove', path, () => rmSync(path, { recursive: true, force: true }));
}

/**
 * Writes a snapshot as a folder that appears as a whole, and is on the disk when the promise resolves. Events are let in between parts.
 *
 * @throws StorageError; nothing is left then.
 */
export async function writeSnapshot(folder: string, { sequence, records }: Snapshot): Promise<void> {
  const target = join(folder, `snapshot-${String(sequence).padStart(16, '0')}`);
  const partial = `${target}${PARTIAL}`;
  try {
    runNamingSnapshot('write', partial, () => mkdirSync(partial));
    const parts: Manifest['parts'] = [];
    for (let start = 0; start < records.length; start += PART_RECORDS) {
      const part = records.slice(start, start + PART_RECORDS);
      parts.push({ records: part.length, hash: writePart(namePart(partial, parts.length), part) });
      await letEventsIn();
    }
    const manifest: Manifest = { sequence, dimension: records[0]?.embedding.length ?? null, parts };
    writeAtomic(join(partial, MANIFEST), `${JSON.stringify({ ...manifest, hash: computeHash(manifest) })}\n`);
    syncFolder(partial);
    runNamingSnapshot('write', target, () => renameSync(partial, target));
    syncFolder(folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

/** @throws ChecksumMismatchError, StorageError. */
export function readManifest(path: string, remedy: string): Manifest {
  const file = join(path, MANIFEST);
  const bytes = readBytes(file);
  try {
    const { hash, ...rest } = JSON.parse(Buffer.from(bytes).toString('utf8')) as { hash: string };
    const manifest = manifestSchema.parse(rest);
    if (hash === computeHash(manifest) && basename(path).endsWith(String(manifest.sequence))) return manifest;
  } catch {
    // reported below, as another checksum is
  }
  throw new ChecksumMismatchError(file, 'its checksum differs', remedy);
}

/** The lines of bytes, without the ends of lines. */
export function splitLines(bytes: Uint8Array): Uint8Array[] {
  const lines: Uint8Array[] = [];
  for (let start = 0; start < bytes.byteLength; ) {
    const found = bytes.indexOf(10, start);
    const end = found < 0 ? bytes.byteLength : found;
    lines.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return lines;
}

export const decodeLine = (line: Uint8Array) =>
  JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString('utf8')) as RecordHead;

function readPart(path: string, { hash }: Manifest['parts'][number], remedy: string): MemoryRecord[] {
  const { tensors } = readCheckedSafetensors(`${path}.safetensors`, remedy);
  const lines = readBytes(`${path}.jsonl`);
  if (computeHash(lines) !== hash) throw new ChecksumMismatchError(`${path}.jsonl`, 'its checksum differs', remedy);
  return joinRecords(splitLines(lines).map(decodeLine), tensors.embeddings?.data as Float32Array);
}

/**
 * Reads the latest snapshot of a folder; one without records and with sequence 0 if there is none.
 *
 * @param remedy the end of the message about damage.
 * @throws ChecksumMismatchError, StorageError.
 */
export async function readSnapshot(folder: string, remedy: string): Promise<Snapshot> {
  const latest = listSnapshots(folder).at(-1);
  if (latest === undefined) return { sequence: 0, records: [] };
  const { parts, sequence } = readManifest(latest.path, remedy);
  const records: MemoryRecord[] = [];
  for (const [i, part] of parts.entries()) {
    for (const record of readPart(namePart(latest.path, i), part, remedy)) records.push(record);
    await letEventsIn();
  }
  return { sequence, records };
}
