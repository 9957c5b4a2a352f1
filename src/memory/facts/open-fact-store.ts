import { Journal, type JournalOptions } from '../../core/journal/journal.ts';
import { FactGraph } from '../../index/graph/fact-graph.ts';
import { removeSnapshots } from '../store/snapshot-folder.ts';
import { applyStored } from './fact-operation.ts';
import { readFactSnapshot } from './fact-snapshot.ts';
import { FACT_STORE_NAME, FactStore } from './fact-store.ts';

/** When the changes of a store of facts reach the disk. */
export type FactStoreOptions = Pick<JournalOptions, 'fsync' | 'intervalMs' | 'segmentBytes'>;

const REMEDY = 'restore the folder from a copy';

/** Reads a folder's snapshot and journal. */
async function restore(journal: Journal): Promise<FactStore> {
  const { graph, position } = await readFactSnapshot(journal.folder, REMEDY);
  await journal.replay(position, ({ sequence, payload }) => applyStored(graph, payload, sequence));
  journal.dropThrough(position.sequence);
  removeSnapshots(journal.folder, position.sequence);
  return new FactStore(journal, graph, position.sequence);
}

/**
 * Opens a store of facts on two timelines; makes its folder if it is missing.
 *
 * @param folder null: the facts are in memory alone.
 * @throws WalCorruptedError and ChecksumMismatchError for a damaged folder, UnavailableError naming the process that has it open, ValidationError for a folder of
 * another store, StorageError.
 */
export async function openFactStore(folder: string | null, options: FactStoreOptions = {}): Promise<FactStore> {
  if (folder === null) return new FactStore(null, new FactGraph(), 0);
  const journal = Journal.open(folder, { ...options, kind: FACT_STORE_NAME, remedy: REMEDY });
  try {
    return await restore(journal);
  } catch (error) {
    await journal.close();
    throw error;
  }
}
