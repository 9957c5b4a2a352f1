import { mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { z } from 'zod';
import { ChecksumMismatchError, RagPlusPlusError, StorageError } from '../../core/errors/errors.ts';
import { readBytes, readFolder, syncFolder, writeAtomic } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import type { JournalPosition } from '../../core/journal/position.ts';
import { parse } from '../../core/validation/validation.ts';

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
 * @param writeParts writes the files into the folder that it gets. Its result is stored as the manifest, with a checksum.
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

/** The manifest of a snapshot. @param remedy the end of the message about damage. @throws ChecksumMismatchError, StorageError. */
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
