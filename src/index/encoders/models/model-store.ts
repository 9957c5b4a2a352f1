import { existsSync, readdirSync, renameSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ChecksumMismatchError, ValidationError } from '../../../core/errors/errors.ts';
import { makeFolder, readText, syncFolder, writeAtomic } from '../../../core/files/files.ts';
import { FolderLock } from '../../../core/files/folder-lock.ts';
import { parse } from '../../../core/validation/validation.ts';
import { assertModelName, findModelsFolder, isModelName, UNFINISHED } from './model-location.ts';

/** Beside the files of a model: what it is and where it is from. */
const NOTE_FILE = 'ragpp-model.json';

const note = z.object({
  name: z.string(),
  /** Null if the model's files do not state one. */
  licence: z.string().nullable(),
  /** The origin of the files: coordinates, an address or a folder. */
  source: z.string(),
});
type ModelNote = z.output<typeof note>;

/** A model that was added. */
export interface StoredModel extends ModelNote {
  readonly folder: string;
  readonly bytes: number;
}

function countBytes(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => statSync(join(folder, name)));
  return files.reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 0), 0);
}

function readModel(folder: string): StoredModel {
  const path = join(folder, NOTE_FILE);
  let content: unknown;
  try {
    content = JSON.parse(readText(path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ChecksumMismatchError(path, 'it is not JSON', `delete ${folder} and add the model again`);
  }
  const stated = parse(note, content, path);
  return { ...stated, folder, bytes: countBytes(folder) };
}

/** The models that were added, by name. */
export function listModels(): StoredModel[] {
  const root = findModelsFolder();
  const names = existsSync(root) ? readdirSync(root).filter(isModelName).sort() : [];
  return names.filter((name) => existsSync(join(root, name, NOTE_FILE))).map((name) => readModel(join(root, name)));
}

/**
 * Adds a model: its files are written to a folder that is renamed once they are complete. Files beside that folder stay
 * if `write` throws or the process ends: downloads, which the next attempt continues.
 *
 * @param write writes the files into `folder`, and what is not part of the model beside it, into `around`.
 *   @returns the licence.
 * @throws ValidationError for a name that is taken; UnavailableError while another process adds the model; what `write`
 *   throws.
 */
export async function storeModel(
  { name, source }: Pick<ModelNote, 'name' | 'source'>,
  write: (folder: string, around: string) => Promise<string | null>,
): Promise<StoredModel> {
  const root = findModelsFolder();
  const target = join(root, assertModelName(name));
  const around = `${target}${UNFINISHED}`;
  const folder = join(around, 'model');
  assertFree(target, name);
  makeFolder(around);
  const lock = FolderLock.acquire(around, 'unfinished model');
  try {
    assertFree(target, name);
    rmSync(folder, { recursive: true, force: true });
    makeFolder(folder);
    const licence = await write(folder, around);
    writeAtomic(join(folder, NOTE_FILE), `${JSON.stringify({ name, licence, source } satisfies ModelNote, null, 2)}\n`);
    renameSync(folder, target);
    syncFolder(root);
    rmSync(around, { recursive: true, force: true });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  } finally {
    lock.release(around);
    removeIfEmpty(around);
  }
  return readModel(target);
}

function assertFree(target: string, name: string): void {
  if (!existsSync(target)) return;
  throw new ValidationError(
    `there is a model of this name: ${target}; remove it by ragpp encoder remove ${name}, or choose another by --name`,
    { name },
  );
}

function removeIfEmpty(folder: string): void {
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(folder);
}

/**
 * Deletes an added model, and what an unfinished attempt to add it left. In between, its folder has the name of an
 * unfinished one, so that no half of a model is found.
 *
 * @returns true if there was anything to delete.
 */
export function removeModel(name: string): boolean {
  const target = join(findModelsFolder(), assertModelName(name));
  const around = `${target}${UNFINISHED}`;
  const isThere = existsSync(join(target, NOTE_FILE));
  const hasRest = existsSync(around);
  if (!isThere && !hasRest) return false;
  makeFolder(around);
  const lock = FolderLock.acquire(around, 'unfinished model');
  try {
    if (isThere) renameSync(target, join(around, `removed-${process.pid}`));
    rmSync(around, { recursive: true, force: true });
  } finally {
    lock.release(around);
  }
  return true;
}
