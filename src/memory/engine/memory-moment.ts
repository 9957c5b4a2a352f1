import type { VectorIndexOptions } from '../../index/vectors/registry.ts';
import { ConservationGuard } from '../conservation/conservation-guard.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import type { StoreMoment } from '../store/record-history.ts';
import type { FollowingIndex } from './following-index.ts';
import { openIndex } from './index-folder.ts';
import type { MemoryOptions } from './memory-options.ts';

/** The parts of a memory as it was at a moment. */
interface MomentParts {
  readonly options: MemoryOptions;
  readonly store: MemoryStore;
  readonly followers: ReadonlyMap<string, FollowingIndex>;
  readonly guard: ConservationGuard;
}

/**
 * Opens the parts of a memory as of a moment, in this process alone. Each index compares every vector, by the distance
 * that the index has.
 *
 * @throws as `MemoryStore.at`.
 */
export async function openMoment(
  options: MemoryOptions,
  present: MemoryStore,
  moment: StoreMoment,
): Promise<MomentParts> {
  const store = present.at(moment);
  const indexes = Object.entries(options.indexes).map(([name, { distance }]): [string, VectorIndexOptions] => [
    name,
    { index: 'flat', distance },
  ]);
  const followers = new Map<string, FollowingIndex>();
  for (const [name, index] of indexes) followers.set(name, await openIndex(store, name, index, options.dimension));
  const guard = new ConservationGuard(store, options.dimension, options.conservation);
  return { options: { ...options, folder: null, indexes: Object.fromEntries(indexes) }, store, followers, guard };
}
