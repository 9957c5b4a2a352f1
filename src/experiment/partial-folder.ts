import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { RagPlusPlusError, StorageError } from '../core/errors.ts';
import { writeAtomic } from '../core/files.ts';
import { RECORDS } from './arm-record.ts';
import { RunLock } from './run-lock.ts';

/** What a run leaves, file by file: relative path -> content. */
export type RunFiles = Readonly<Record<string, string | Uint8Array>>;

/** What becomes of an earlier run of the same name: `fresh` starts over, the others go on with what it has left, finished or not. */
export type Opening = 'fresh' | 'resume' | 'retry-failed';

const PARTIAL = '.partial';
const REPLACED = '.replaced';

/** Whether a folder's name is that of a run which is not done, or which has just been replaced. */
export function isUnderWay(name: string): boolean {
  return name.endsWith(PARTIAL) || name.endsWith(REPLACED);
}

/** Says what the records of a folder are of; a folder without it holds nothing to go on with. */
export const STATE = 'state.json';

/** What an atomic write leaves that was killed halfway. */
const LEFTOVER = /\.\d+$/;

/** Files that stay when a folder is emptied. */
const KEPT: readonly string[] = [RunLock.NAME];

/**
 * The folder `<target>.partial` in which a run is made, and which takes the place of `target` as a whole once the run is done. Whatever ends the process before
 * that leaves it for `resume`. One process at a time holds it.
 */
export class PartialFolder {
  readonly target: string;
  readonly path: string;
  readonly #lock: RunLock;

  private constructor(target: string, path: string, lock: RunLock) {
    this.target = target;
    this.path = path;
    this.#lock = lock;
  }

  /** @throws UnavailableError while another process holds it, StorageError naming the folder. */
  static open(target: string, opening: Opening): PartialFolder {
    const path = `${target}${PARTIAL}`;
    return naming(target, () => {
      mkdirSync(path, { recursive: true });
      const folder = new PartialFolder(target, path, RunLock.acquire(path));
      try {
        folder.#putBack();
        if (opening === 'fresh') folder.#empty();
        else if (!existsSync(join(path, STATE))) folder.#takeOver();
        else folder.#tidy();
      } catch (error) {
        folder.release();
        throw error;
      }
      return folder;
    });
  }

  get #replaced(): string {
    return `${this.target}${REPLACED}`;
  }

  /** Ends what a process began that was killed between the two steps of {@link finish}. */
  #putBack(): void {
    if (!existsSync(this.#replaced)) return;
    if (existsSync(this.target)) rmSync(this.#replaced, { recursive: true });
    else renameSync(this.#replaced, this.target);
  }

  #empty(): void {
    for (const name of readdirSync(this.path))
      if (!KEPT.includes(name)) rmSync(join(this.path, name), { recursive: true });
  }

  /** Copies the records of the finished run, which itself stays until this one is done. */
  #takeOver(): void {
    this.#empty();
    if (!existsSync(join(this.target, STATE))) return;
    for (const name of [RECORDS, STATE])
      cpSync(join(this.target, name), join(this.path, name), { recursive: true, preserveTimestamps: true });
  }

  #tidy(): void {
    for (const folder of [this.path, join(this.path, RECORDS)].filter(existsSync))
      for (const name of readdirSync(folder))
        if (LEFTOVER.test(name) && !name.startsWith(RunLock.NAME)) rmSync(join(folder, name));
  }

  /** Writes files one after the other, each whole or not at all. */
  write(files: RunFiles): void {
    for (const [name, content] of Object.entries(files)) writeAtomic(join(this.path, name), content);
  }

  /** Writes the last files and puts the folder in its place; an earlier run there is gone then. */
  finish(files: RunFiles): void {
    naming(this.target, () => {
      for (const [name, content] of Object.entries(files)) {
        const path = join(this.path, name);
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, content);
      }
      if (existsSync(this.target)) renameSync(this.target, this.#replaced);
      renameSync(this.path, this.target);
      this.#lock.release(this.target);
      rmSync(this.#replaced, { recursive: true, force: true });
    });
  }

  /** Leaves the folder as it is to the next process. */
  release(): void {
    this.#lock.release(this.path);
  }

  /** Takes the folder away. */
  remove(): void {
    rmSync(this.path, { recursive: true });
  }
}

function naming<T>(target: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    throw new StorageError('write the run folder', target, { cause: error });
  }
}
