import { DimensionMismatchError } from '../../core/errors.ts';
import { Journal, type JournalOptions } from '../../core/journal/journal.ts';
import { MemoryStore, type RestoredStore, STORE_NAME } from './memory-store.ts';
import { decodeOperation, listChanged } from './operation.ts';
import { RecordTable } from './record-table.ts';
import { readSnapshot } from './snapshot.ts';
import { measureSnapshot, removeSnapshots } from './snapshot-folder.ts';

/** The dimension of a store's records, and when its changes reach the disk. */
export interface StoreOptions extends Pick<JournalOptions, 'fsync' | 'intervalMs' | 'segmentBytes'> {
  /** D of every record. Default: that of the records stored, else of the first one. */
  readonly dimension?: number;
}

const describeRepair = (folder: string) =>
  `save the rest in a new folder with 'ragpp memory repair ${folder} --into FOLDER'`;

/** Reads a folder's snapshot and journal. */
async function restore(journal: Journal): Promise<RestoredStore> {
  const table = new RecordTable();
  const changes = new Map<string, number>();
  let grownBytes = 0;
  const snapshot = await readSnapshot(journal.folder, describeRepair(journal.folder));
  table.put(snapshot.records);
  table.sequence = snapshot.sequence;
  await journal.replay(snapshot.sequence, ({ sequence, payload }) => {
    const operation = decodeOperation(payload, sequence);
    table.apply(operation);
    for (const id of listChanged(operation)) changes.set(id, sequence);
    table.sequence = sequence;
    grownBytes += payload.byteLength;
  });
  journal.dropThrough(snapshot.sequence);
  removeSnapshots(journal.folder, snapshot.sequence);
  const snapshotBytes = measureSnapshot(journal.folder);
  return { table, snapshotSequence: snapshot.sequence, changes, grownBytes, snapshotBytes };
}

function assertDimension(table: RecordTable, asked: number | undefined): void {
  const stored = table.first()?.embedding.length;
  if (asked !== undefined && stored !== undefined && asked !== stored)
    throw new DimensionMismatchError('dimension of the memory store', stored, asked, 'open it with its own dimension');
}

/**
 * Opens a store of records; makes its folder if it is missing.
 *
 * @param folder null: the records are in memory alone.
 * @throws WalCorruptedError and ChecksumMismatchError for a damaged folder, UnavailableError naming the process that has it open, DimensionMismatchError,
 * StorageError.
 */
export async function openStore(folder: string | null, options: StoreOptions = {}): Promise<MemoryStore> {
  const { dimension, ...others } = options;
  if (folder === null) return new MemoryStore(null, dimension ?? null);
  const journal = Journal.open(folder, { ...others, kind: STORE_NAME, remedy: describeRepair(folder) });
  try {
    const restored = await restore(journal);
    assertDimension(restored.table, dimension);
    return new MemoryStore(journal, dimension ?? null, restored);
  } catch (error) {
    await journal.close();
    throw error;
  }
}
