import { parse } from '../../core/validation/validation.ts';
import { assertRecordsWithinRange } from '../outcomes/outcome-statistics.ts';
import { computePriors } from '../outcomes/prior-bundle.ts';
import { openStore } from '../store/open-store.ts';
import type { FollowingIndex } from './following-index.ts';
import { noteSaved, openIndex } from './index-folder.ts';
import { Memory } from './memory.ts';
import { type MemoryInput, memoryOptions } from './memory-options.ts';
import type { ServedArm } from './served-arm.ts';

/** The options of a memory, and the arm that it answers by. */
export interface ServedMemoryInput extends Omit<MemoryInput, 'dimension'> {
  /** Borrowed. D is that of its vectors, and no index is kept unless `indexes` names one. */
  readonly arm: ServedArm;
}

/** @returns the options without the arm. */
function splitArm(written: MemoryInput | ServedMemoryInput): {
  readonly own: MemoryInput;
  readonly arm: ServedArm | null;
} {
  if (!('arm' in written)) return { own: written, arm: null };
  const { arm, ...own } = written;
  return { own: { indexes: {}, ...own, dimension: arm.dimension }, arm };
}

/**
 * Opens a memory: its store, and the indexes that follow it.
 *
 * @param written for example `{ folder: 'memory', dimension: 384, indexes: { main: { index: 'hnsw' } } }`.
 * @throws ConfigurationError for options that do not exist; WalCorruptedError and ChecksumMismatchError for damaged files; UnavailableError if another process
 * has the folder open, or for a missing package or server; DimensionMismatchError for a folder of another dimension;
 * ValidationError for a record with an outcome beyond the range of outcomes; StorageError.
 */
export async function openMemory(written: MemoryInput | ServedMemoryInput): Promise<Memory> {
  const { own, arm } = splitArm(written);
  const options = parse(memoryOptions, own, 'the options of a memory');
  const { folder, readOnly, dimension, fsync, indexes, history, clock } = options;
  const store = await openStore(folder, { dimension, fsync, readOnly, history, clock });
  const named = Object.entries(indexes);
  const followers = new Map<string, FollowingIndex>();
  try {
    assertRecordsWithinRange(store.records(), options.outcomeRange);
    for (const [name, index] of named) noteSaved(store, name, index);
    for (const [name, index] of named) followers.set(name, await openIndex(store, name, index, dimension));
    computePriors([{ outcome: 0 }, { outcome: 1 }], null, { range: 'none' }); // loads Student's t now, not within the time of the first query
    const ranking = arm && new (await import('./arm-ranking.ts')).ArmRecordRanking(arm, store);
    const { ConservationGuard } = await import('../conservation/conservation-guard.ts');
    const guard = new ConservationGuard(store, dimension, options.conservation);
    const coordinates = options.coordinates
      ? new (await import('./record-coordinates.ts')).RecordCoordinates(store, dimension)
      : null;
    return new Memory(options, store, followers, { guard, coordinates, ranking });
  } catch (error) {
    for (const { index } of followers.values()) await index.dispose();
    await store.close();
    throw error;
  }
}
