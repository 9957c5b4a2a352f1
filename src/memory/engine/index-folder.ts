import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { openVectorIndex, type VectorIndexOptions } from '../../candidates/live/registry.ts';
import { ValidationError } from '../../core/errors.ts';
import { readText, writeAtomic } from '../../core/files.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import { FollowingIndex } from './following-index.ts';

/** What an index was saved with: the state of the store, and the options that the index was made with. */
const stateSchema = z.strictObject({ sequence: z.int().min(0), options: z.string() });

function locate(folder: string, name: string): { readonly rows: string; readonly state: string } {
  const own = join(folder, 'indexes', encodeURIComponent(name));
  return { rows: join(own, 'rows'), state: join(own, 'state.json') };
}

/** The state of the store that a saved index holds; null if none was saved with these options. */
function readSequence(path: string, options: VectorIndexOptions): number | null {
  if (!existsSync(path)) return null;
  const { success, data } = stateSchema.safeParse(parseJson(readText(path)));
  return success && data.options === JSON.stringify(options) ? data.sequence : null;
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
  return readSequence(locate(folder, name).state, options);
}

/**
 * Opens an index of a memory, with what was saved of it if the store still knows what changed since; what it lacks is noted.
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
  const saved = places === null ? null : readSequence(places.state, options);
  const changes = saved === null ? null : store.listChangesSince(saved);
  const fresh = await openVectorIndex(options, dimension);
  const isKept = (await fresh.count()) > 0;
  if (isKept && changes === null) {
    await fresh.dispose();
    throw new ValidationError(
      `index ${name} has rows that its memory does not know; empty its table, or name another table`,
      { index: name },
    );
  }
  if (changes === null || fresh.keepsRows === true) return follow(store, fresh, changes);
  await fresh.dispose();
  return follow(store, await openVectorIndex(options, dimension, places?.rows), changes);
}

function follow(store: MemoryStore, index: FollowingIndex['index'], changes: readonly string[] | null): FollowingIndex {
  const follower = new FollowingIndex(index, (id) => store.get(id));
  follower.note(changes ?? Array.from(store.records(), ({ id }) => id));
  return follower;
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
  if (readSequence(state, options) === sequence) return;
  await follower.catchUp();
  if (follower.index.keepsRows !== true) await follower.index.save(rows);
  writeAtomic(state, `${JSON.stringify({ sequence, options: JSON.stringify(options) })}\n`);
}
