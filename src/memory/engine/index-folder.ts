import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openVectorIndex, type VectorIndexOptions } from '../../candidates/live/registry.ts';
import { ChecksumMismatchError, StorageError, ValidationError } from '../../core/errors.ts';
import { readText, writeAtomic } from '../../core/files.ts';
import { computeHash } from '../../core/hash.ts';
import type { VectorIndex } from '../../model/vector-index.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import { FollowingIndex } from './following-index.ts';

/** The operation of the store up to which an index was saved, null for rows of a table that are the memory's but were not saved; a hash of its options. */
const stateSchema = z.strictObject({ sequence: z.int().min(0).nullable(), options: z.string() });
type IndexState = z.output<typeof stateSchema>;

function locate(folder: string, name: string): { readonly rows: string; readonly state: string } {
  const own = join(folder, 'indexes', encodeURIComponent(name));
  return { rows: join(own, 'rows'), state: join(own, 'state.json') };
}

/** The state of an index that was made with these options; null if there is none. */
function readState(path: string, options: VectorIndexOptions): IndexState | null {
  if (!existsSync(path)) return null;
  const { success, data } = stateSchema.safeParse(parseJson(readText(path)));
  return success && data.options === computeHash(options) ? data : null;
}

/** Options may hold a password, so their hash is written. */
function writeState(path: string, options: VectorIndexOptions, sequence: number | null): void {
  writeAtomic(path, `${JSON.stringify({ sequence, options: computeHash(options) } satisfies IndexState)}\n`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The number of changes that the saved index of a memory's folder holds; null if none was saved with these options. */
export function readSavedSequence(folder: string, name: string, options: VectorIndexOptions): number | null {
  return readState(locate(folder, name).state, options)?.sequence ?? null;
}

const listIds = (store: MemoryStore) => Array.from(store.records(), ({ id }) => id);

/**
 * Opens an index of a memory, with what was saved of it if its files are whole and the store still knows what changed since, and brings it up to the store.
 *
 * @throws ValidationError for a database table with rows of another store; what the index throws.
 */
export async function openIndex(
  store: MemoryStore,
  name: string,
  options: VectorIndexOptions,
  dimension: number,
): Promise<FollowingIndex> {
  const places = store.folder === null ? null : locate(store.folder, name);
  const state = places === null ? null : readState(places.state, options);
  const changes = state === null || state.sequence === null ? null : store.listChangesSince(state.sequence);
  const fresh = await openVectorIndex(options, dimension);
  if (fresh.keepsRows !== true) {
    const saved = changes === null ? null : await openSaved(options, dimension, places?.rows as string);
    if (saved === null) return follow(store, fresh, listIds(store));
    const follower = await follow(store, saved, changes as readonly string[]);
    const isWhole = (await saved.count()) === store.size;
    await (isWhole ? fresh : saved).dispose();
    return isWhole ? follower : follow(store, fresh, listIds(store));
  }
  if (state === null && (await fresh.count()) > 0) {
    await fresh.dispose();
    throw new ValidationError(
      `index ${name} has rows that its memory does not know; empty its table, or name another table`,
      { index: name },
    );
  }
  if (places !== null && state === null) writeState(places.state, options, null);
  if (changes !== null) {
    const follower = await follow(store, fresh, changes);
    if ((await fresh.count()) === store.size) return follower;
  }
  await fresh.clear?.();
  return follow(store, fresh, listIds(store));
}

/** The index as it was saved; null if its files are damaged or missing, since the store has all that it holds. */
async function openSaved(options: VectorIndexOptions, dimension: number, rows: string): Promise<VectorIndex | null> {
  try {
    return await openVectorIndex(options, dimension, rows);
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

/** Saves an index beside its store, unless it is saved as it is. */
export async function saveIndex(
  store: MemoryStore,
  name: string,
  follower: FollowingIndex,
  options: VectorIndexOptions,
): Promise<void> {
  if (store.folder === null) return;
  const { rows, state } = locate(store.folder, name);
  const { sequence } = store; // what is written meanwhile is noted again when the index is opened
  if (readState(state, options)?.sequence === sequence) return;
  await follower.catchUp();
  if (follower.index.keepsRows !== true) await follower.index.save(rows);
  writeState(state, options, sequence);
}
