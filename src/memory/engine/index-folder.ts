import { existsSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { ChecksumMismatchError, StorageError, ValidationError } from '../../core/errors/errors.ts';
import { readFolder, readText, removePath, writeAtomic } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { isSamePosition, type JournalPosition, journalPosition } from '../../core/journal/position.ts';
import { parseOrNull } from '../../core/validation/validation.ts';
import { openVectorIndex, type VectorIndexOptions } from '../../index/vectors/registry.ts';
import type { VectorIndex } from '../../model/vector-index.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import { UNCOMPACTED } from '../store/removal.ts';
import { FollowingIndex } from './following-index.ts';

/** The state of a saved index. */
const stateSchema = z.strictObject({
  /**
   * The operations that its rows have all, and the one after which they have none; null for rows of a table that are
   * the memory's but were not saved.
   */
  saved: z.strictObject({ from: journalPosition, to: journalPosition }).nullable(),
  /** A hash, since options may hold a password. */
  options: z.string(),
});
type IndexState = z.output<typeof stateSchema>;
type Saved = NonNullable<IndexState['saved']>;

const locate = (folder: string, name: string) => join(folder, 'indexes', encodeURIComponent(name));
const locateState = (folder: string, name: string) => join(locate(folder, name), 'state.json');
/** Rows of another operation are in another folder, so that a state never goes with rows that it does not describe. */
const locateRows = (folder: string, name: string, from: JournalPosition) =>
  join(locate(folder, name), `rows-${from.hash}`);

/** The state of an index that was made with these options; null if there is none. */
function readState(path: string, options: VectorIndexOptions): IndexState | null {
  if (!existsSync(path)) return null;
  const state = parseOrNull(stateSchema, parseJson(readText(path)));
  return state?.options === computeHash(options) ? state : null;
}

function writeState(path: string, options: VectorIndexOptions, saved: Saved | null): void {
  writeAtomic(path, `${JSON.stringify({ saved, options: computeHash(options) } satisfies IndexState)}\n`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The last change that the saved index of a memory's folder holds; null if none was saved with these options. */
export function readSavedPosition(folder: string, name: string, options: VectorIndexOptions): JournalPosition | null {
  return readState(locateState(folder, name), options)?.saved?.from ?? null;
}

/** Warns of changes that a saved index has and its store has lost. @throws StorageError. */
export function noteSaved(store: MemoryStore, name: string, options: VectorIndexOptions): void {
  const state = store.folder === null ? null : readState(locateState(store.folder, name), options);
  if (state?.saved) store.noteAcknowledged(state.saved.to);
}

/**
 * The ids of the records that changed since an index was saved; null if its rows have changes that the store has
 * not.
 */
function listLacking(store: MemoryStore, { from, to }: Saved): readonly string[] | null {
  return store.holds(to) === true ? store.listChangesSince(from) : null;
}

const listIds = (store: MemoryStore) => Array.from(store.records(), ({ id }) => id);

/**
 * Opens an index of a memory, with what was saved of it if its files are whole and the store knows what changed since,
 * and brings it up to the store.
 *
 * @throws ValidationError for a database table with rows of another store; what the index throws.
 */
async function openFollower(
  store: MemoryStore,
  name: string,
  options: VectorIndexOptions,
  dimension: number,
): Promise<FollowingIndex> {
  const { folder } = store;
  const state = folder === null ? null : readState(locateState(folder, name), options);
  // What only reads may not change a table.
  const fresh = await openVectorIndex(store.isReadOnly ? keepInProcess(options) : options, dimension);
  if (fresh.keepsRows !== true) {
    const saved = folder === null || !state?.saved ? null : await openSaved(store, name, options, state.saved);
    if (saved === null) return follow(store, fresh, listIds(store));
    await fresh.dispose();
    return saved;
  }
  if (state === null && (await fresh.count()) > 0) {
    await fresh.dispose();
    throw new ValidationError(
      `index ${name} has rows that its memory does not know; empty its table, or name another table`,
      { index: name },
    );
  }
  if (folder !== null && state === null) writeState(locateState(folder, name), options, null);
  // A table has rows of changes after its state: if some of those are lost, they are not among the ones that the store
  // knows.
  const isLost = store.warnings.length > 0;
  const changes = isLost || !state?.saved ? null : listLacking(store, state.saved);
  if (changes !== null) {
    const follower = await follow(store, fresh, changes);
    if ((await fresh.count()) === store.size) return follower;
  }
  await fresh.clear?.();
  return follow(store, fresh, listIds(store));
}

/**
 * Opens an index of a memory as {@link openFollower} does, and frees what removed records have left in it, if a removal
 * was finished while it was closed.
 *
 * @throws as {@link openFollower}.
 */
export async function openIndex(
  store: MemoryStore,
  name: string,
  options: VectorIndexOptions,
  dimension: number,
): Promise<FollowingIndex> {
  const follower = await openFollower(store, name, options, dimension);
  if (store.folder === null || store.isReadOnly) return follower;
  const uncompacted = join(locate(store.folder, name), UNCOMPACTED);
  if (!existsSync(uncompacted)) return follower;
  try {
    await follower.compact();
    removePath(uncompacted);
    return follower;
  } catch (error) {
    await follower.index.dispose();
    throw error;
  }
}

function keepInProcess(options: VectorIndexOptions): VectorIndexOptions {
  return options.index === 'pgvector' ? { index: 'flat', distance: options.distance } : options;
}

/**
 * The index as it was saved, brought up to the store; null if its files are damaged or missing, or of another
 * history: the store has all that it holds.
 */
async function openSaved(
  store: MemoryStore,
  name: string,
  options: VectorIndexOptions,
  state: Saved,
): Promise<FollowingIndex | null> {
  const changes = listLacking(store, state);
  if (changes === null || store.dimension === null) return null;
  try {
    const rows = locateRows(store.folder as string, name, state.from);
    const saved = await openVectorIndex(keepInProcess(options), store.dimension, rows);
    const follower = await follow(store, saved, changes);
    if ((await saved.count()) === store.size) return follower;
    await saved.dispose();
    return null;
  } catch (error) {
    if (error instanceof ChecksumMismatchError || error instanceof StorageError) return null;
    throw error;
  }
}

async function follow(store: MemoryStore, index: VectorIndex, lacks: readonly string[]): Promise<FollowingIndex> {
  const follower = new FollowingIndex(index, store, lacks);
  try {
    await follower.catchUp();
    return follower;
  } catch (error) {
    await index.dispose();
    throw error;
  }
}

/** Saves an index beside its store, unless it is saved as it is or the store is only read. */
export async function saveIndex(
  store: MemoryStore,
  name: string,
  follower: FollowingIndex,
  options: VectorIndexOptions,
): Promise<void> {
  const { folder, position: from } = store;
  if (folder === null || store.isReadOnly) return;
  const state = locateState(folder, name);
  const saved = readState(state, options)?.saved ?? null;
  const rows = locateRows(folder, name, from);
  const { keepsRows = false } = follower.index;
  const isSaved = saved !== null && isSamePosition(saved.from, from) && isSamePosition(saved.to, from);
  if (isSaved && (keepsRows || existsSync(rows))) return; // a removal takes the rows of every index
  await follower.catchUp();
  if (!keepsRows) await follower.index.save(rows);
  // What is written meanwhile may be among the rows, and is noted again when the index is opened.
  writeState(state, options, { from, to: store.position });
  removeRows(locate(folder, name), basename(rows));
}

/** Removes the rows of other operations. */
function removeRows(own: string, kept: string): void {
  for (const found of readFolder(own))
    if (found.startsWith('rows') && found !== kept) rmSync(join(own, found), { recursive: true, force: true });
}
