import { DimensionMismatchError } from '../../core/errors.ts';
import { Journal, type JournalOptions } from '../../core/journal/journal.ts';
import { MemoryStore, STORE_NAME } from './memory-store.ts';
import { decodeOperation, listChanged } from './operation.ts';
import { RecordTable } from './record-table.ts';
import { readSnapshot, removeSnapshots } from './snapshot.ts';

/** The dimension of a store's records, and when its changes reach the disk. */
export interface StoreOptions extends Pick<JournalOptions, 'fsync' | 'intervalMs' | 'segmentBytes'> {
  /** D of every record. Default: that of the records stored, else of the first one. */
  readonly dimension?: number;
}

const describeRepair = (folder: string) =>
  `save the rest in a new folder with 'ragpp memory repair ${folder} --into FOLDER'`;

/** Reads a folder's snapshot and journal. */
interface Restored {
  readonly table: RecordTable;
  readonly snapshotSequence: number;
  readonly changes: Map<string, number>;
}

async function restore(journal: Journal): Promise<Restored> {
  const table = new RecordTable();
  const changes = new Map<string, number>();
  const snapshot = await readSnapshot(journal.folder, describeRepair(journal.folder));
  table.put(snapshot.records);
  table.sequence = snapshot.sequence;
  await journal.replay(snapshot.sequence, ({ sequence, payload }) => {
    const operation = decodeOperation(payload, sequence);
    table.apply(operation);
    for (const id of listChanged(operation)) changes.set(id, sequence);
    table.sequence = sequence;
  });
  journal.dropThrough(snapshot.sequence);
  removeSnapshots(journal.folder, snapshot.sequence);
  return { table, snapshotSequence: snapshot.sequence, changes };
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
  if (folder === null) return new MemoryStore(null, new RecordTable(), dimension ?? null, 0);
  const journal = Journal.open(folder, { ...others, kind: STORE_NAME, remedy: describeRepair(folder) });
  try {
    const { table, snapshotSequence, changes } = await restore(journal);
    assertDimension(table, dimension);
    return new MemoryStore(journal, table, dimension ?? null, snapshotSequence, changes);
  } catch (error) {
    await journal.close();
    throw error;
  }
}
