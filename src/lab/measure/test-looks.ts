import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { UnavailableError, ValidationError } from '../../core/errors/errors.ts';
import { makeFolder, readText, writeAtomic } from '../../core/files/files.ts';
import { FolderLock } from '../../core/files/folder-lock.ts';
import { parse } from '../../core/validation/validation.ts';
import { isSameQuerySet, isSameSplit, lookSchema, type TestLook } from './passport.ts';
import type { ExperimentResult, NumberedLook } from './result.ts';
import { displayResult } from './warning.ts';

/** Lists the looks at test splits: of all runs of a folder, and, beside that folder, those that were published. */
export const LOOKS_FILE = 'test-looks.json';
/** Has the result of the weights of a fit on the test split, in the folder of the fit. */
export const TEST_FILE = 'test.json';

const fileSchema = z.strictObject({ looks: z.array(lookSchema) });

/** @throws ValidationError for another kind of file. */
export function readLooks(path: string): TestLook[] {
  if (!existsSync(path)) return [];
  const text = readText(path);
  try {
    return parse(fileSchema, JSON.parse(text), path).looks;
  } catch (error) {
    throw new ValidationError(
      `not a list of looks at test splits: ${path}; restore the file from a backup`,
      { path },
      { cause: error },
    );
  }
}

/** The looks of several lists, each once, in the order in which they are first listed. */
export function mergeLooks(...lists: readonly (readonly TestLook[])[]): TestLook[] {
  const found = new Map<string, TestLook>();
  for (const look of lists.flat()) {
    const key = [look.dataset, look.run, look.queries?.hash].join(' ');
    if (!found.has(key)) found.set(key, look);
  }
  return [...found.values()];
}

/** @param runs the folder in which runs have their folders */
function joinLookPaths(runs: string): { readonly published: string; readonly own: string } {
  return { published: join(dirname(resolve(runs)), LOOKS_FILE), own: join(runs, LOOKS_FILE) };
}

/** Every known look, published ones first. @throws ValidationError for another kind of file. */
export function listLooks(runs: string): TestLook[] {
  const { published, own } = joinLookPaths(runs);
  return mergeLooks(readLooks(published), readLooks(own));
}

const LONGEST_WAIT_MILLISECONDS = 30_000;
const PAUSE_MILLISECONDS = 20;

/** Blocks this thread: another process holds the list for the time of one small file. */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MILLISECONDS);
}

/** @throws UnavailableError if another process keeps the folder. */
function lockFolder(folder: string): FolderLock {
  for (let waited = 0; ; waited += PAUSE_MILLISECONDS) {
    try {
      return FolderLock.acquire(folder, 'list of looks in');
    } catch (error) {
      if (!(error instanceof UnavailableError) || waited >= LONGEST_WAIT_MILLISECONDS) throw error;
      pause();
    }
  }
}

/** Adds looks to a list that no other process reads or writes meanwhile. */
function addLooks(path: string, looks: readonly TestLook[]): void {
  const folder = dirname(path);
  makeFolder(folder);
  const lock = lockFolder(folder);
  try {
    const listed = readLooks(path);
    const merged = mergeLooks(listed, looks);
    if (merged.length > listed.length) writeAtomic(path, `${JSON.stringify({ looks: merged }, null, 2)}\n`);
  } finally {
    lock.release(folder);
  }
}

function numberLook(look: TestLook, looks: readonly TestLook[]): NumberedLook {
  const atSplit = looks.filter((other) => isSameSplit(other, look));
  const lookIndex = atSplit.findIndex((other) => other.run === look.run && other.queries?.hash === look.queries?.hash);
  const earlier = atSplit.slice(0, lookIndex);
  return {
    dataset: look.dataset,
    number: lookIndex + 1,
    numberAtQueries: earlier.filter((other) => isSameQuerySet(other, look)).length + 1,
    queries: look.queries?.count ?? 0,
  };
}

/**
 * Adds a look to the list of a folder of runs, unless it is listed there or among published looks.
 *
 * @param runs the folder in which runs have their folders
 * @returns the place of the look.
 * @throws ValidationError for another kind of file; StorageError; UnavailableError if another process keeps the list.
 */
export function countLook(runs: string, look: TestLook): NumberedLook {
  const { published, own } = joinLookPaths(runs);
  if (mergeLooks(readLooks(published), [look]).length > readLooks(published).length) addLooks(own, [look]);
  return numberLook(look, listLooks(runs));
}

/** A finished run with its look at a test split, which is counted in a folder of runs unless it was counted before. */
export function withCountedLook<
  Finished extends { readonly result: ExperimentResult; readonly look?: TestLook | null },
>(finished: Finished, runs: string): Finished {
  const { result, look = null } = finished;
  if (look === null || result.look !== undefined) return finished;
  return { ...finished, result: displayResult({ ...result, look: countLook(runs, look) }) };
}

/** Adds to the published list the looks of a run, and all other looks that are listed beside it at the same splits. */
export function publishLooks(runFolder: string, results: string): void {
  const listed = readLooks(joinLookPaths(dirname(resolve(runFolder))).own);
  const own = listed.filter(({ run }) => run === basename(resolve(runFolder)));
  const looks = listed.filter((look) => own.some((one) => isSameSplit(one, look)));
  if (looks.length > 0) addLooks(join(results, LOOKS_FILE), looks);
}
