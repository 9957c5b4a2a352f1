import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ChecksumMismatchError, RagPlusPlusError, StorageError } from '../../core/errors/errors.ts';
import { readBytes, readFolder, syncFolder, writeAtomic } from '../../core/files/files.ts';
import { readCheckedSafetensors, writeSafetensors } from '../../core/files/safetensors.ts';
import { computeCrc32, computeHash } from '../../core/hash/hash.ts';
import { JOURNAL_START, type JournalPosition, journalPosition } from '../../core/journal/position.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import { parse } from '../../core/validation/validation.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import { encodeHead, joinVectors } from './operation.ts';
import type { SavedHistory } from './record-history.ts';
import { listSavedRecords, type SavedRecord } from './saved-record.ts';

const MANIFEST = 'snapshot.json';
const PARTIAL = '.partial';
const SNAPSHOT = /^snapshot-(\d{16})$/;

export const namePart = (folder: string, part: number) => join(folder, `part-${String(part).padStart(6, '0')}`);

/** Does file work. @throws StorageError with the path. */
function runNamingSnapshot(action: string, path: string, work: () => void): void {
  try {
    work();
  } catch (error) {
    throw error instanceof RagPlusPlusError ? error : new StorageError(action, path, { cause: error });
  }
}

/** The snapshots in a folder, the earliest first. */
export function listSnapshots(folder: string): { readonly path: string; readonly sequence: number }[] {
  return readFolder(folder).flatMap((name) => {
    const [, sequence] = SNAPSHOT.exec(name) ?? [];
    return sequence === undefined ? [] : { path: join(folder, name), sequence: Number(sequence) };
  });
}

/** Bytes of the files of the latest snapshot of a folder; 0 without one. */
export function measureSnapshot(folder: string): number {
  const latest = listSnapshots(folder).at(-1);
  if (latest === undefined) return 0;
  return readFolder(latest.path).reduce(
    (sum, name) => sum + (statSync(join(latest.path, name), { throwIfNoEntry: false })?.size ?? 0),
    0,
  );
}

/** Removes unfinished snapshots, and those before a sequence. @throws StorageError. */
export function removeSnapshots(folder: string, before: number): void {
  const unfinished = readFolder(folder).filter((name) => name.startsWith('snapshot-') && name.endsWith(PARTIAL));
  const earlier = listSnapshots(folder).filter(({ sequence }) => sequence < before);
  for (const path of [...unfinished.map((name) => join(folder, name)), ...earlier.map((found) => found.path)])
    runNamingSnapshot('remove', path, () => rmSync(path, { recursive: true, force: true }));
}

/**
 * Makes a snapshot, a folder that appears as a whole and is on the disk when the promise resolves.
 *
 * @param writeParts writes the files into the folder that it gets. Its result is stored as the manifest, with a
 *   checksum.
 * @throws StorageError; nothing is left then.
 */
export async function writeSnapshotFolder(
  folder: string,
  { sequence }: JournalPosition,
  writeParts: (partial: string) => Promise<{ readonly position: JournalPosition }>,
): Promise<void> {
  const target = join(folder, `snapshot-${String(sequence).padStart(16, '0')}`);
  const partial = `${target}${PARTIAL}`;
  try {
    runNamingSnapshot('write', partial, () => mkdirSync(partial));
    const manifest = await writeParts(partial);
    writeAtomic(join(partial, MANIFEST), `${JSON.stringify({ ...manifest, hash: computeHash(manifest) })}\n`);
    syncFolder(partial);
    runNamingSnapshot('write', target, () => renameSync(partial, target));
    syncFolder(folder);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

/**
 * The manifest of a snapshot.
 *
 * @param remedy the end of the message about damage.
 * @throws ChecksumMismatchError, StorageError.
 */
export function readSnapshotManifest<M extends { readonly position: JournalPosition }>(
  path: string,
  schema: z.ZodType<M>,
  remedy: string,
): M {
  const file = join(path, MANIFEST);
  const bytes = readBytes(file);
  try {
    const { hash, ...rest } = JSON.parse(Buffer.from(bytes).toString('utf8')) as { hash: string };
    const manifest = parse(schema, rest, file);
    if (hash === computeHash(manifest) && basename(path).endsWith(String(manifest.position.sequence))) return manifest;
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

/** The records of a store after an entry of its journal. */
export interface Snapshot {
  readonly position: JournalPosition;
  readonly records: readonly MemoryRecord[];
  /** null: the store keeps none. */
  readonly history: SavedHistory | null;
}

/** Records of a part: a pair of files. */
const PART_RECORDS = 2048;

/** The part of the manifest of a snapshot about its history. */
const historyManifest = z.strictObject({
  begin: z.int().min(0),
  /** The SHA-256 of the JSON of each part. */
  parts: z.array(z.string()),
});
const manifestSchema = z.strictObject({
  position: journalPosition,
  dimension: z.number().nullable(),
  /** The records of each part, and the SHA-256 of its lines. */
  parts: z.array(z.strictObject({ records: z.number(), hash: z.string() })),
  history: historyManifest.exactOptional(),
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
export function writeSnapshot(folder: string, { position, records, history }: Snapshot): Promise<void> {
  return writeSnapshotFolder(folder, position, async (partial): Promise<Manifest> => {
    const parts: Manifest['parts'] = [];
    for (let start = 0; start < records.length; start += PART_RECORDS) {
      const part = records.slice(start, start + PART_RECORDS);
      parts.push({ records: part.length, hash: writePart(namePart(partial, parts.length), part) });
      await letEventsIn();
    }
    const own =
      history === null
        ? {}
        : { history: await (await import('./history-snapshot.ts')).writeHistory(partial, history, records) };
    return { position, dimension: records[0]?.embedding.length ?? null, parts, ...own };
  });
}

/** @throws ChecksumMismatchError, StorageError. */
export const readManifest = (path: string, remedy: string): Manifest =>
  readSnapshotManifest(path, manifestSchema, remedy);

function readPart(path: string, { hash }: Manifest['parts'][number], remedy: string): SavedRecord[] {
  const { tensors } = readCheckedSafetensors(`${path}.safetensors`, remedy);
  const lines = readBytes(`${path}.jsonl`);
  if (computeHash(lines) !== hash) throw new ChecksumMismatchError(`${path}.jsonl`, 'its checksum differs', remedy);
  return listSavedRecords(lines, tensors.embeddings?.data as Float32Array);
}

/** A {@link Snapshot} as it is read. */
export interface OpenedSnapshot extends Omit<Snapshot, 'records'> {
  /** With a history all of them are decoded. */
  readonly records: readonly (MemoryRecord | SavedRecord)[];
}

/**
 * Reads the latest snapshot of a folder; one without records before the first entry if there is none.
 *
 * @param remedy the end of the message about damage.
 * @throws ChecksumMismatchError, StorageError.
 */
export async function readSnapshot(folder: string, remedy: string): Promise<OpenedSnapshot> {
  const latest = listSnapshots(folder).at(-1);
  if (latest === undefined) return { position: JOURNAL_START, records: [], history: null };
  const { parts, position, history } = readManifest(latest.path, remedy);
  const saved: SavedRecord[] = [];
  for (const [i, part] of parts.entries()) {
    for (const record of readPart(namePart(latest.path, i), part, remedy)) saved.push(record);
    await letEventsIn();
  }
  if (history === undefined) return { position, records: saved, history: null };
  const { readHistory } = await import('./history-snapshot.ts');
  const records = saved.map((record) => record.read());
  return { position, records, history: await readHistory(latest.path, history, records, remedy) };
}
