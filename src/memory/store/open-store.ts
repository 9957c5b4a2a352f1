import { DimensionMismatchError, StorageError, WalCorruptedError } from '../../core/errors/errors.ts';
import { Journal, type JournalOptions } from '../../core/journal/journal.ts';
import { MemoryStore, type RestoredStore, restoreNothing, STORE_NAME } from './memory-store.ts';
import { decodeOperation } from './operation.ts';
import { RecordHistory } from './record-history.ts';
import { RecordTable } from './record-table.ts';
import { resumeRemoval } from './removal.ts';
import { measureSnapshot, readSnapshot, removeSnapshots } from './snapshot.ts';

/** The dimension of a store's records, and when its changes reach the disk. */
export interface StoreOptions extends Pick<JournalOptions, 'fsync' | 'intervalMs' | 'segmentBytes'> {
  /** D of every record. Default: that of the records stored, else of the first one. */
  readonly dimension?: number;
  /**
   * Reads the folder as it is, also while another process writes to it. Every change is then an error, and none of
   * another process is seen. Default false.
   */
  readonly readOnly?: boolean;
  /**
   * Keeps every version of a record that is replaced, removed or gets an outcome, and the time of each change. A folder
   * that has a history keeps it without this option too. Default false.
   */
  readonly history?: boolean;
  /** Milliseconds since 1970 of a change of the history. Default `Date.now`. */
  readonly clock?: () => number;
}

/** Readings of a folder to which another process writes. */
const READ_ATTEMPTS = 5;

const describeRepair = (folder: string) =>
  `save the rest in a new folder with 'ragpp memory repair ${folder} --into FOLDER'`;

/** Reads a folder's snapshot and journal. */
async function restore(journal: Journal, keepsHistory: boolean): Promise<RestoredStore> {
  const table = new RecordTable();
  const changes = new Map<string, number>();
  let grownBytes = 0;
  const snapshot = await readSnapshot(journal.folder, describeRepair(journal.folder));
  table.restore(snapshot.records);
  table.position = snapshot.position;
  if (snapshot.history !== null) table.history = new RecordHistory(snapshot.history, snapshot.records);
  else if (keepsHistory) table.beginHistory();
  await journal.replay(snapshot.position, ({ sequence, hash, payload }) => {
    const operation = decodeOperation(payload, sequence);
    for (const id of table.listChanged(operation)) changes.set(id, sequence);
    if (operation.at !== undefined) table.beginHistory();
    table.enter({ sequence, hash }, operation);
    table.apply(operation);
    grownBytes += payload.byteLength;
  });
  const snapshotSequence = snapshot.position.sequence;
  if (!journal.isReadOnly) {
    journal.dropThrough(snapshotSequence);
    removeSnapshots(journal.folder, snapshotSequence);
  }
  const snapshotBytes = measureSnapshot(journal.folder);
  return { table, snapshotSequence, changes, grownBytes, snapshotBytes };
}

function assertDimension(table: RecordTable, asked: number | undefined): void {
  const stored = table.dimension;
  if (asked !== undefined && stored !== null && asked !== stored)
    throw new DimensionMismatchError('dimension of the memory store', stored, asked, 'open it with its own dimension');
}

/**
 * Opens a store of records; makes its folder if it is missing. Finishes a removal that a killed process has begun.
 *
 * @param folder null: the records are in memory alone.
 * @throws WalCorruptedError and ChecksumMismatchError for a damaged folder, UnavailableError naming the process that has it open, DimensionMismatchError,
 * StorageError.
 */
export async function openStore(folder: string | null, options: StoreOptions = {}): Promise<MemoryStore> {
  if (folder === null) return openInMemory(options);
  for (let attempt = 1; ; attempt++)
    try {
      return await openFolder(folder, options);
    } catch (error) {
      // The writer of a folder that is only read may have replaced a snapshot, and what it covers, between two of its files.
      const mayHaveMoved = error instanceof StorageError || error instanceof WalCorruptedError;
      if (options.readOnly !== true || !mayHaveMoved || attempt === READ_ATTEMPTS) throw error;
    }
}

function openInMemory({ dimension, history = false, clock }: StoreOptions): MemoryStore {
  const restored = restoreNothing();
  if (history) restored.table.beginHistory();
  return new MemoryStore(null, dimension ?? null, restored, clock);
}

async function openFolder(
  folder: string,
  { dimension, history = false, clock, ...others }: StoreOptions,
): Promise<MemoryStore> {
  const journal = Journal.open(folder, { ...others, kind: STORE_NAME, remedy: describeRepair(folder) });
  try {
    const restored = await restore(journal, history);
    assertDimension(restored.table, dimension);
    const store = new MemoryStore(journal, dimension ?? null, restored, clock);
    await resumeRemoval(store);
    return store;
  } catch (error) {
    await journal.close();
    throw error;
  }
}
