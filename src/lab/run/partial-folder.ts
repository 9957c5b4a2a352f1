import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ChecksumMismatchError, RagPlusPlusError, StorageError, ValidationError } from '../../core/errors/errors.ts';
import { assertNoLink, makeFolder, readText, writeAtomic } from '../../core/files/files.ts';
import { FolderLock } from '../../core/files/folder-lock.ts';
import { BACKENDS, type BackendName } from '../../core/tensors/active-backend.ts';
import { parse } from '../../core/validation/validation.ts';
import { RECORDS } from './arm-record.ts';
import { recordVersion } from './environment.ts';

/** The files of a run: relative path -> content. */
export type RunFiles = Readonly<Record<string, string | Uint8Array>>;

/** The use of an earlier run of the same name: `fresh` starts again, the others continue with its records, finished or not. */
export type Opening = 'fresh' | 'resume' | 'retry-failed';

const PARTIAL = '.partial';
const REPLACED = '.replaced';

/** True if a folder's name is that of an unfinished run, or of a run that was just replaced. */
export function isUnderWay(name: string): boolean {
  return name.endsWith(PARTIAL) || name.endsWith(REPLACED);
}

/** Describes the origin of a folder's records; a folder without it cannot be resumed. */
export const STATE = 'state.json';

/** A temporary file of an atomic write that was killed. */
const LEFTOVER = /\.\d+$/;

/** Files that stay when a folder is emptied. */
const KEPT: readonly string[] = [FolderLock.NAME];

/** Every folder that a run has begun to fill contains one of these. */
const OWN: readonly string[] = [FolderLock.NAME, STATE, RECORDS];

/** @throws ValidationError for a folder with other files, which would be lost when the folder is emptied. */
function assertOurs(path: string): void {
  const names = readdirSync(path);
  if (names.length === 0 || names.some((name) => OWN.includes(name) || name.startsWith(`${FolderLock.NAME}.`))) return;
  throw new ValidationError(`folder was not made by a run: ${path}; move it away`, { path });
}

/**
 * The folder `<target>.partial` in which a run is made, and which takes the place of `target` as a whole once the run is done. Whatever ends the process before
 * that leaves it for `resume`. One process at a time holds it.
 */
export class PartialFolder {
  readonly target: string;
  readonly path: string;
  readonly #lock: FolderLock;
  readonly #replaced: string;

  private constructor(target: string, path: string, lock: FolderLock) {
    this.target = target;
    this.path = path;
    this.#lock = lock;
    this.#replaced = `${target}${REPLACED}`;
  }

  /** @throws UnavailableError while another process holds it, StorageError naming the folder or a link at its path, ValidationError if it is not the folder of a run. */
  static open(target: string, opening: Opening): PartialFolder {
    const path = `${target}${PARTIAL}`;
    return runNamingTarget(target, () => {
      for (const location of [target, path, `${target}${REPLACED}`]) assertNoLink(location);
      makeFolder(path);
      assertOurs(path);
      const folder = new PartialFolder(target, path, FolderLock.acquire(path, 'run folder'));
      try {
        folder.#putBack();
        if (opening === 'fresh') folder.#emptyFolder();
        else if (!existsSync(join(path, STATE))) folder.#takeOver();
        else folder.#tidy();
      } catch (error) {
        folder.release();
        throw error;
      }
      return folder;
    });
  }

  /** Completes the work of a process that was killed between the two steps of {@link finish}. */
  #putBack(): void {
    if (!existsSync(this.#replaced)) return;
    if (existsSync(this.target)) rmSync(this.#replaced, { recursive: true });
    else renameSync(this.#replaced, this.target);
  }

  #emptyFolder(): void {
    for (const name of readdirSync(this.path))
      if (!KEPT.includes(name)) rmSync(join(this.path, name), { recursive: true });
  }

  /** Copies the records of the finished run, which remains until this run is done. */
  #takeOver(): void {
    this.#emptyFolder();
    if (!existsSync(join(this.target, STATE))) return;
    assertNoLinks(this.target);
    for (const name of [RECORDS, STATE])
      cpSync(join(this.target, name), join(this.path, name), { recursive: true, preserveTimestamps: true });
  }

  #tidy(): void {
    assertNoLinks(this.path);
    for (const folder of [this.path, join(this.path, RECORDS)].filter(existsSync))
      for (const name of readdirSync(folder))
        if (LEFTOVER.test(name) && !name.startsWith(FolderLock.NAME)) rmSync(join(folder, name));
  }

  /** Writes files one after the other, each whole or not at all. */
  write(files: RunFiles): void {
    for (const [name, content] of Object.entries(files)) writeAtomic(join(this.path, name), content);
  }

  /** Writes the last files and puts the folder in its place; an earlier run there is gone then. */
  finish(files: RunFiles): void {
    runNamingTarget(this.target, () => {
      this.write(files);
      if (existsSync(this.target)) renameSync(this.target, this.#replaced);
      renameSync(this.path, this.target);
      this.#lock.release(this.target);
      rmSync(this.#replaced, { recursive: true, force: true });
    });
  }

  /** Releases the folder unchanged for the next process. */
  release(): void {
    this.#lock.release(this.path);
  }

  /** Takes the folder away. */
  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}

/** Refuses links among the files that an earlier run has left. */
function assertNoLinks(folder: string): void {
  for (const parent of [folder, join(folder, RECORDS)].filter(existsSync))
    for (const name of readdirSync(parent)) assertNoLink(join(parent, name));
}

function runNamingTarget<T>(target: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    throw new StorageError('write the run folder', target, { cause: error });
  }
}

const stateSchema = z.strictObject({
  /** The hash of the config, the data and the backend, as in the folder's name. */
  hash: z.string(),
  /** See {@link recordVersion}. */
  recordVersion: z.string(),
  dataHash: z.string(),
  backend: z.enum(BACKENDS),
  /** The arms of the table, in its order. */
  arms: z.array(z.string()),
  /** The maximum number of arms run at the same time by the command that holds the folder. */
  armsAtOnce: z.int().min(1),
});

/** The values that all arms of a run share, on any machine. */
export type RunState = z.output<typeof stateSchema>;

/** The state of a run whose arms are known. */
export function describeRunState(
  run: { readonly hash: string; readonly backend: BackendName; readonly arms: readonly { readonly name: string }[] },
  dataHash: string,
  armsAtOnce: number,
): RunState {
  const { hash, backend, arms } = run;
  return { hash, recordVersion: recordVersion(), dataHash, backend, arms: arms.map(({ name }) => name), armsAtOnce };
}

export function formatState(state: RunState): string {
  return `${JSON.stringify(state, null, 2)}\n`;
}

/**
 * @throws StorageError for a folder that is not of a run, ChecksumMismatchError for a truncated state,
 *   ConfigurationError for an invalid one.
 */
export function readState(runFolder: string): RunState {
  const path = join(runFolder, STATE);
  return parse(stateSchema, parseStateJson(readText(path), path), path);
}

function parseStateJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ChecksumMismatchError(path, 'not JSON', 'run again without --resume and --retry-failed');
  }
}

/** The facts of two states that differ, of those that records of one table must share. */
export function listDifferingFacts(a: RunState, b: RunState): string[] {
  return (['hash', 'recordVersion', 'dataHash', 'backend'] as const).filter((key) => a[key] !== b[key]);
}

/**
 * @throws ValidationError if the folder holds records of other code, data or backend, which must not be mixed with new
 *   ones in one table.
 */
export function assertContinues(runFolder: string, state: RunState): void {
  if (!existsSync(join(runFolder, STATE))) return;
  const differing = listDifferingFacts(readState(runFolder), state);
  if (differing.length > 0)
    throw new ValidationError(
      `run cannot be resumed, since it was begun with another ${differing.join(', ')}: ${runFolder}; run again without --resume`,
      { runFolder, differing },
    );
}
