import { existsSync, lstatSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeFolder, syncFolder, UNFINISHED } from './files.ts';
import { FolderLock } from './folder-lock.ts';

/** A process that was killed may still end a write into what is removed. */
const REMOVAL = { recursive: true, force: true, maxRetries: 5, retryDelay: 20 } as const;

/**
 * Makes a folder as a whole or not at all: it is written below the neighbour `TARGET.partial` and renamed once it is
 * complete. Files beside it in the neighbour stay if `write` throws or the process ends: downloads, which the next
 * attempt continues.
 *
 * @param kind what is made, as errors name it.
 * @param assertFree throws if the target exists and may not be made.
 * @param write writes the files into `folder`, which has the name of the target and of the folder above it, and what is
 *   not part of it into `around`.
 * @throws UnavailableError while another process makes it; what `assertFree` and `write` throw.
 */
export async function buildFolder(
  target: string,
  kind: string,
  assertFree: () => void,
  write: (folder: string, around: string) => Promise<void>,
): Promise<void> {
  const around = `${target}${UNFINISHED}`;
  const parent = join(around, basename(dirname(target)));
  const folder = join(parent, basename(target));
  assertFree();
  makeFolder(around);
  const lock = FolderLock.acquire(around, kind);
  try {
    assertFree();
    rmSync(parent, REMOVAL);
    makeFolder(folder);
    await write(folder, around);
    renameSync(folder, target);
    syncFolder(dirname(target));
    rmSync(around, REMOVAL);
  } catch (error) {
    rmSync(parent, REMOVAL);
    throw error;
  } finally {
    lock.release(around);
    removeIfEmpty(around);
  }
}

function removeIfEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}

/**
 * Deletes a folder of {@link buildFolder}, and what an unfinished attempt to make it left. In between, the folder has
 * the name of an unfinished one, so that no half of it is found.
 *
 * @param mark the file without which a folder is not one of those.
 * @returns true if there was anything to delete.
 */
export function removeBuiltFolder(target: string, kind: string, mark: string): boolean {
  const around = `${target}${UNFINISHED}`;
  const isThere = existsSync(join(target, mark));
  const hasRest = existsSync(around);
  if (!isThere && !hasRest) return false;
  makeFolder(around);
  const lock = FolderLock.acquire(around, kind);
  try {
    if (isThere) renameSync(target, join(around, `removed-${process.pid}`));
    rmSync(around, REMOVAL);
  } finally {
    lock.release(around);
  }
  return true;
}

/** The files below a folder, without links, and their bytes. Other processes may move and remove files meanwhile. */
export function measureFolder(folder: string): { readonly files: number; readonly bytes: number } {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => lstatSync(join(folder, name), { throwIfNoEntry: false }))
    .filter((entry) => entry?.isFile());
  return { files: files.length, bytes: files.reduce((sum, entry) => sum + (entry?.size ?? 0), 0) };
}
