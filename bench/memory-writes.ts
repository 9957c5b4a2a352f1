import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { countBytes } from '../src/core/journal/frame.ts';
import { createRandom } from '../src/core/numbers/random.ts';
import type { MemoryStore } from '../src/memory/store/memory-store.ts';
import { openStore } from '../src/memory/store/open-store.ts';
import { encodeOperation } from '../src/memory/store/operation.ts';
import { EMPTY_OUTCOME_STATISTICS, type MemoryRecord } from '../src/model/turns/turn.ts';
import { summariseTimes } from './memory-index.ts';
import { type FoundPython, runPeer } from './peers/python.ts';

/** Writers that each wait for the acknowledgement of a record before they write the next. */
export interface WriteFigures {
  readonly writers: number;
  /** Acknowledged records a second. */
  readonly rate: number;
  /** Milliseconds from a call to its acknowledgement. */
  readonly p50: number;
  readonly p99: number;
}

export interface WriteSettings {
  readonly writers: readonly number[];
  /** How long each number of writers writes. */
  readonly seconds: number;
  /** D. */
  readonly dimension: number;
  readonly seed: number;
}

const VECTORS = 64;

/** Makes records of some 100 characters of text and 3 attributes. Vectors repeat; ids do not. */
export function createRecordMaker(dimension: number, seed: number): (number: number) => MemoryRecord {
  const stream = createRandom(seed, 'stored vectors');
  const vectors = Array.from({ length: VECTORS }, () =>
    Float32Array.from({ length: dimension }, () => stream.drawNormal()),
  );
  return (number) => ({
    id: `record-${number}`,
    embedding: vectors[number % VECTORS] as Float32Array,
    context: `Record ${number} ran the migration on the staging database, which ended after one retry of two steps.`,
    outcome: (number % 11) / 10,
    metadata: { phase: 'run', memoryType: 'episodic', importance: (number % 7) / 7 },
    createdAt: 1_700_000_000_000 + 1000 * number,
    stats: EMPTY_OUTCOME_STATISTICS,
    trajectory: null,
    conversationId: `conversation-${number >> 4}`,
    parentId: null,
    author: null,
    channel: null,
  });
}

/** Bytes of the entry of a record in the journal. */
export function countRecordBytes(dimension: number, seed: number): number {
  const record = createRecordMaker(dimension, seed)(12_345);
  return countBytes(encodeOperation({ kind: 'put', records: [record] }));
}

async function writeUntil(
  store: MemoryStore,
  makeRecord: (number: number) => MemoryRecord,
  writers: number,
  seconds: number,
): Promise<WriteFigures> {
  const times: number[] = [];
  let number = 0;
  const started = performance.now();
  const end = started + 1000 * seconds;
  const write = async () => {
    while (performance.now() < end) {
      const before = performance.now();
      await store.put([makeRecord(number++)]);
      times.push(performance.now() - before);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  const rate = (1000 * times.length) / (performance.now() - started);
  return { writers, rate, ...summariseTimes(times) };
}

/** Acknowledged writes to a store that syncs each before its acknowledgement, an empty store for each number of writers. */
export async function measureWrites({ writers, seconds, dimension, seed }: WriteSettings): Promise<WriteFigures[]> {
  const makeRecord = createRecordMaker(dimension, seed);
  const figures: WriteFigures[] = [];
  for (const count of writers) {
    const folder = mkdtempSync(join(tmpdir(), 'ragpp-bench-writes-'));
    const store = await openStore(folder, { fsync: 'always' });
    try {
      figures.push(await writeUntil(store, makeRecord, count, seconds));
    } finally {
      await store.close();
      rmSync(folder, { recursive: true });
    }
  }
  return figures;
}

export interface SqliteFigures {
  readonly version: string;
  readonly rows: readonly WriteFigures[];
}

/** The same by SQLite: rows of as many bytes, each in a transaction of its own, WAL with synchronous=FULL. */
export function measureSqliteWrites(python: FoundPython, settings: WriteSettings): SqliteFigures {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-bench-sqlite-'));
  const { writers, seconds, dimension, seed } = settings;
  const task = { folder, writers, seconds, bytes: countRecordBytes(dimension, seed) };
  try {
    return runPeer<SqliteFigures>(python, 'sqlite_writes.py', JSON.stringify(task));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
