import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { StorageError } from '../../core/errors/errors.ts';
import { makeFolder, readFolder, readText, removePath, syncFolder, writeAtomic } from '../../core/files/files.ts';
import { FolderLock } from '../../core/files/folder-lock.ts';
import { parse, parseJson } from '../../core/validation/validation.ts';
import type { CachedTexts } from '../../index/encoders/cached-texts.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import type { MemoryStore } from './memory-store.ts';
import type { VersionName } from './operation.ts';

/** In the folder of a store: a removal that is decided, and may be done in part. */
const STAGED = 'removal';
/** A removal that is not decided yet. */
const PARTIAL = `${STAGED}.partial`;
const PLAN = 'plan.json';

/** A path within the folder of the store. */
const innerPath = z.string().regex(/^(?!.*(?:^|[/\\])\.\.(?:[/\\]|$))[^/\\]/, 'a path within the folder');

const planSchema = z.strictObject({
  ids: z.array(z.string()),
  versions: z.array(z.tuple([z.string(), z.int()]).readonly()).default([]),
  /** Logs without what is removed, each in a folder of its own beside the plan. */
  logs: z.array(z.strictObject({ path: innerPath, files: z.array(innerPath) })),
  cached: z
    .strictObject({ folder: z.string(), hashes: z.array(z.string()).readonly() })
    .nullable()
    .default(null),
});
type RemovalPlan = z.output<typeof planSchema>;
type WrittenPlan = z.input<typeof planSchema>;

/** The content that no file may have after a removal. */
export interface Forgotten {
  readonly ids: ReadonlySet<string>;
  /** True of a record, or of an earlier version of one, that is to be forgotten. */
  selects(record: MemoryRecord): boolean;
}

/** The records of a store that it forgets. */
export interface ForgottenRecords {
  readonly ids: ReadonlySet<string>;
  /** Earlier versions of other records. */
  readonly versions: readonly VersionName[];
  /** The texts of all of these, of which a cache may have vectors; absent: no cache is known. */
  readonly cached?: CachedTexts | null;
}

/** The content of a log in the folder of a memory. */
export interface LogContent {
  readonly records: readonly MemoryRecord[];
  /** The entries of the log without what is forgotten, and how many lost something. */
  forget(forgotten: Forgotten): { readonly entries: readonly Uint8Array[]; readonly changed: number };
}

const nameLog = (folder: string, i: number) => join(folder, `log-${i}`);
/** The files of a journal and of its snapshots. */
const holdsEntries = (name: string) => name.endsWith('.journal') || name === 'end' || name.startsWith('snapshot-');

function rename(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    throw new StorageError('write', to, { cause: error });
  }
}

/**
 * The ids of a removal that is decided and not finished; none without one.
 *
 * @throws StorageError; ValidationError and ConfigurationError for a damaged plan.
 */
export function readStagedIds(folder: string): readonly string[] {
  return readPlan(folder)?.ids ?? [];
}

function readPlan(folder: string): RemovalPlan | null {
  const path = join(folder, STAGED, PLAN);
  if (!existsSync(path)) return null;
  return parse(planSchema, parseJson(readText(path), `plan of a removal is damaged: ${path}`, { path }), path);
}

/**
 * Decides a removal: writes what it takes and the new logs into the folder of a store, where they appear as a whole.
 * From then on {@link finishRemoval} does it, in this process or when the store is opened again.
 *
 * @param logs the paths of the logs to replace, within the folder.
 * @param writeLog writes the new log with a number into a folder.
 * @throws StorageError, and what `writeLog` throws; nothing is left then.
 */
export async function stageRemoval(
  folder: string,
  { ids, versions, cached = null }: ForgottenRecords,
  logs: readonly string[],
  writeLog: (i: number, into: string) => Promise<void>,
): Promise<void> {
  const partial = join(folder, PARTIAL);
  removePath(partial);
  makeFolder(partial);
  try {
    const staged: RemovalPlan['logs'] = [];
    for (const [i, path] of logs.entries()) {
      const into = nameLog(partial, i);
      await writeLog(i, into);
      staged.push({ path, files: readFolder(into).filter(holdsEntries) });
    }
    writeAtomic(
      join(partial, PLAN),
      JSON.stringify({ ids: [...ids], versions: [...versions], logs: staged, cached } satisfies WrittenPlan),
    );
    syncFolder(partial);
    rename(partial, join(folder, STAGED));
    syncFolder(folder);
  } catch (error) {
    removePath(partial);
    throw error;
  }
}

/** Puts the files of a log in the place of its earlier ones. A second call finishes what the first one has left. */
function replaceLog(staged: string, log: string, files: readonly string[]): void {
  for (const name of files) if (existsSync(join(staged, name))) rename(join(staged, name), join(log, name));
  for (const name of readFolder(log)) if (holdsEntries(name) && !files.includes(name)) removePath(join(log, name));
  syncFolder(log);
}

/** The folders of the indexes of a store. */
function listIndexFolders(folder: string): string[] {
  const indexes = join(folder, 'indexes');
  if (!existsSync(indexes)) return [];
  const entries = readdirSync(indexes, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(indexes, name));
}

/** Removes the saved rows of every index; what opens the index builds it from the records. */
function removeSavedRows(folder: string): void {
  for (const own of listIndexFolders(folder))
    for (const file of readFolder(own)) if (file.startsWith('rows')) removePath(join(own, file));
}

/** In the folder of an index that may have removed vectors: who opens the index compacts it, and removes the file. */
export const UNCOMPACTED = 'uncompacted';

/** Has the indexes of a store, which are not open, compacted when they are opened. */
function noteUncompacted(folder: string): void {
  for (const own of listIndexFolders(folder)) writeAtomic(join(own, UNCOMPACTED), '');
}

/**
 * Does the removal that was staged in the folder of a store: removes the records, replaces the logs, leaves no file
 * with what was removed, and no vector of it in the cache. Every step may be done again.
 *
 * @param compactIndexes frees what open indexes have of the removed records.
 * @throws StorageError, and what `compactIndexes` throws; the next call goes on.
 */
export async function finishRemoval(store: MemoryStore, compactIndexes: () => Promise<void>): Promise<void> {
  const folder = store.folder as string;
  const plan = readPlan(folder);
  if (plan === null) return;
  await store.forget(plan.ids, plan.versions);
  await compactIndexes();
  for (const [i, { path, files }] of plan.logs.entries())
    replaceLog(nameLog(join(folder, STAGED), i), join(folder, path), files);
  removeSavedRows(folder);
  await store.snapshot();
  if (plan.cached !== null) {
    const { evictCachedTexts } = await import('../../index/encoders/cached-texts.ts'); // few removals need it
    evictCachedTexts(plan.cached);
  }
  removePath(join(folder, STAGED));
  syncFolder(folder);
}

/**
 * Finishes a removal that was staged before and not done, and deletes one that was not decided. Does nothing for a
 * store that is only read, or in memory.
 *
 * @param compactIndexes as of {@link finishRemoval}. Absent: no index is open, and what opens one compacts it.
 * @throws UnavailableError naming the process that has a log of the folder open; StorageError; what `compactIndexes`
 *   throws.
 */
export async function resumeRemoval(
  store: MemoryStore,
  compactIndexes: () => Promise<void> = async () => noteUncompacted(store.folder as string),
): Promise<void> {
  const { folder } = store;
  if (folder === null || store.isReadOnly) return;
  removePath(join(folder, PARTIAL));
  const held = (readPlan(folder)?.logs ?? []).map(({ path }) => join(folder, path));
  const locks: [FolderLock, string][] = [];
  try {
    for (const log of held) makeFolder(log);
    for (const log of held) locks.push([FolderLock.acquire(log, 'log of a memory'), log]);
    await finishRemoval(store, compactIndexes);
  } finally {
    for (const [lock, log] of locks) lock.release(log);
  }
}
