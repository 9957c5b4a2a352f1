import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { openMemory } from '../../../src/memory/engine/open-memory.ts';
import { openStore } from '../../../src/memory/store/open-store.ts';
import type { MemoryRecord } from '../../../src/model/turns/turn.ts';
import {
  drawMemoryData,
  K,
  type MemorySettings,
  nameRecord,
  readMemoryFacts,
  writeMemoryData,
} from '../../memory-data.ts';
import { addRows } from '../../memory-index.ts';
import { countRecordBytes, createRecordMaker } from '../../memory-writes.ts';
import {
  compareNumbers,
  compareRankings,
  type PeerSize,
  type Result,
  readSettings,
  type WorkGroup,
  writeSettings,
} from '../work.ts';

interface Sizes extends Omit<MemorySettings, 'seed'> {
  /** Records that are written and acknowledged, by the number of writers; published: SQLite moves its log meanwhile. */
  readonly writes: Readonly<Record<number, number>>;
}

const SIZES: Readonly<Record<PeerSize, Sizes>> = {
  small: { size: 2000, dimension: 64, queries: 20, data: 'manifold', writes: { 1: 50, 64: 640 } },
  published: { size: 100_000, dimension: 384, queries: 50, data: 'manifold', writes: { 1: 2000, 64: 1600 } },
};
const WRITERS = [1, 64];
/** Cosines of float32. */
const TOLERANCE = 1e-5;
/** Milliseconds that a query may take. */
const PATIENCE = 600_000;

type Settings = MemorySettings & Pick<Sizes, 'writes'>;

const readRecordNumber = (id: string) => Number(id.slice(nameRecord(0).length - 1));

const openFilled = (folder: string, dimension: number) =>
  openMemory({
    ...{ folder, dimension, timeoutMs: PATIENCE },
    indexes: { main: { index: 'flat' } },
    cache: { enabled: false }, // a question is asked again in each round
  });

/** Adds the records of the data to a memory in an empty folder, and closes it. */
async function fillMemory(source: string, folder: string): Promise<void> {
  const { settings, ranks } = readMemoryFacts(source);
  const memory = await openFilled(folder, settings.dimension);
  await addRows(source, settings, ranks, (rows) =>
    memory.addBatch(rows.map(({ id, vector, rank }) => ({ id, embedding: vector, context: id, createdAt: rank }))),
  );
  await memory.close();
}

/** Record and first number of its vector, by record. */
async function readFilled(folder: string, dimension: number): Promise<Result> {
  const memory = await openFilled(folder, dimension);
  const numbers = Array.from(memory.records(), ({ id, embedding }) => [readRecordNumber(id), embedding[0]!] as const);
  await memory.close();
  return Float64Array.from(numbers.sort(([a], [b]) => a - b).flat());
}

/** Record and cosine of each rank of each query, one query at a time. */
async function askMemory(
  memory: Awaited<ReturnType<typeof openMemory>>,
  queries: Float32Array,
  dimension: number,
): Promise<Result> {
  const numbers: number[] = [];
  for (let start = 0; start < queries.length; start += dimension) {
    const { candidates } = await memory.query({ embedding: queries.subarray(start, start + dimension), k: K });
    for (const { recordId, distance } of candidates) numbers.push(readRecordNumber(recordId), 1 - distance);
  }
  return Float64Array.from(numbers);
}

/** Writers that each wait for the acknowledgement of a record before the next. */
async function writeRecords(
  folder: string,
  writers: number,
  count: number,
  makeRecord: (number: number) => MemoryRecord,
): Promise<void> {
  const store = await openStore(folder, { fsync: 'always' });
  let next = 0;
  const write = async () => {
    while (next < count) await store.put([makeRecord(next++)]);
  };
  await Promise.all(Array.from({ length: writers }, write));
  await store.close();
}

async function readWritten(folder: string): Promise<Result> {
  const store = await openStore(folder, { readOnly: true });
  const numbers = Float64Array.from(store.records(), ({ id }) => readRecordNumber(id)).sort();
  await store.close();
  return numbers;
}

/** Filling a memory on the disk, asking it, and writes that are on the disk before they are acknowledged. */
export const memory: WorkGroup = {
  listWorks: () => ['bulk-load', 'memory-query', ...WRITERS.map((writers) => `durable-writer/${writers}`)],
  peers: [
    { name: 'sqlite-vec', requirements: 'sqlite-requirements.txt', works: ['bulk-load', 'memory-query'] },
    { name: 'duckdb', requirements: 'duckdb-requirements.txt', works: ['bulk-load', 'memory-query'] },
    { name: 'lancedb', requirements: 'lancedb-requirements.txt', works: ['bulk-load', 'memory-query'] },
    {
      ...{ name: 'sqlite', requirements: 'sqlite-requirements.txt' },
      works: WRITERS.map((writers) => `durable-writer/${writers}`),
    },
  ],
  describe: (size) => {
    const { size: records, dimension, queries, writes } = SIZES[size];
    const written = WRITERS.map((writers) => `${writes[writers]} of ${writers}`).join(' and ');
    return `${records.toLocaleString('en')} records of ${dimension} dimensions, ${queries} queries one by one, k ${K}, flat; acknowledged writes: ${written} at once; SQLite syncs each (WAL, FULL), by one connection`;
  },
  prepare: (folder, size, seed) => {
    const { writes, ...sizes } = SIZES[size];
    writeMemoryData(folder, drawMemoryData({ ...sizes, seed }));
    const bytes = countRecordBytes(sizes.dimension, seed);
    writeSettings(folder, { ...readSettings<object>(folder), ...sizes, seed, writes, bytes });
  },
  open: async (folder) => {
    const settings = readSettings<Settings>(folder);
    const { dimension, seed } = settings;
    const makeRecord = createRecordMaker(dimension, seed); // draws the vectors, as the peer draws its payload: untimed
    const { queries } = readMemoryFacts(folder);
    const makeFolder = () => mkdtempSync(join(folder, 'memory-'));
    let filled = '';
    let asked: Awaited<ReturnType<typeof openMemory>> | null = null;
    const writes = WRITERS.map((writers) => {
      const write = async () => {
        const written = makeFolder();
        await writeRecords(written, writers, settings.writes[writers]!, makeRecord);
        return () => readWritten(written);
      };
      return [`durable-writer/${writers}`, write] as const;
    });
    return {
      'bulk-load': async () => {
        filled = makeFolder();
        await fillMemory(folder, filled);
        return () => readFilled(filled, dimension);
      },
      'memory-query': async () => {
        asked ??= await openFilled(filled, dimension);
        const numbers = await askMemory(asked, queries, dimension);
        return () => numbers;
      },
      ...Object.fromEntries(writes),
    };
  },
  compare: (work, ours, theirs) =>
    work === 'memory-query' ? compareRankings(ours, theirs, K, TOLERANCE) : compareNumbers(ours, theirs, 0),
};
