import { openStore } from '../src/memory/store/open-store.ts';
import { measureFolder, readResidentBytes } from './memory-index.ts';
import { createRecordMaker } from './memory-writes.ts';

/** Records that are written at once. */
const BATCH = 500;

/** Opening a store from its journal, or from a snapshot of it. */
export interface RecoveryFigures {
  readonly from: 'journal' | 'snapshot';
  readonly records: number;
  readonly bytes: number;
  readonly seconds: number;
  /** Growth of the resident memory of the process by opening the store, in bytes. */
  readonly residentBytes: number;
  /** Writing the snapshot; null where there was one. */
  readonly snapshotSeconds: number | null;
}

export interface OpeningTask {
  readonly from: RecoveryFigures['from'];
  readonly folder: string;
}

export interface RecoverySettings {
  readonly records: number;
  /** D. */
  readonly dimension: number;
  readonly seed: number;
}

/** Writes the journal of a store: one entry for each record. */
export async function writeJournal(folder: string, { records, dimension, seed }: RecoverySettings): Promise<void> {
  const makeRecord = createRecordMaker(dimension, seed);
  const store = await openStore(folder, { fsync: 'never' });
  for (let start = 0; start < records; start += BATCH)
    await Promise.all(
      Array.from({ length: Math.min(BATCH, records - start) }, (_, i) => store.put([makeRecord(start + i)])),
    );
  await store.close();
}

/** Opens the store in a folder, then replaces its journal, if it has one, by a snapshot. */
export async function measureOpening({ folder, from }: OpeningTask): Promise<RecoveryFigures> {
  const bytes = measureFolder(folder);
  const before = readResidentBytes();
  const started = performance.now();
  const store = await openStore(folder);
  const seconds = (performance.now() - started) / 1000;
  const residentBytes = readResidentBytes() - before;
  const snapshotStarted = performance.now();
  await store.snapshot();
  const snapshotSeconds = from === 'journal' ? (performance.now() - snapshotStarted) / 1000 : null;
  await store.close();
  return { from, records: store.size, bytes, seconds, residentBytes, snapshotSeconds };
}
