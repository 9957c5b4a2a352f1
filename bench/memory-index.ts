import { closeSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openVectorIndex, type VectorIndexInput, vectorIndexOptions } from '../src/index/vectors/registry.ts';
import { chooseGraph } from '../src/index/vectors/vector-kind.ts';
import type { VectorIndex, VectorRow, VectorSearchOptions } from '../src/model/vector-index.ts';
import {
  countVisible,
  K,
  type MemoryData,
  type MemorySettings,
  measureRecall,
  nameRecord,
  RANK,
  readMemoryFacts,
  SHARES,
  VECTOR_FILE,
} from './memory-data.ts';
import { collectGarbage } from './peak-memory.ts';
import { median } from './timing.ts';

/** Rows of an upsert. */
const CHUNK = 1000;
/** Where a database keeps the rows. */
export const TABLE = 'ragpp_bench';

/** Searches of one query each, in milliseconds, and the share of the exact results that they found. */
export interface SearchFigures {
  readonly p50: number;
  readonly p99: number;
  readonly recall: number;
}

/** Searches with a breadth: efSearch of hnsw, probes of ivfflat; null where the index has none. */
export interface BreadthFigures extends SearchFigures {
  readonly breadth: number | null;
}

/** Searches among a share of the records. */
export interface FilteredFigures extends BreadthFigures {
  readonly percent: number;
  /** How many records these are. */
  readonly visible: number;
}

export interface IndexFigures {
  readonly name: string;
  /** How many records it holds: fewer than there are where an index is measured on a part. */
  readonly size: number;
  /** Adding the rows. */
  readonly loadSeconds: number;
  /** Adding the rows, and building what searches them. */
  readonly buildSeconds: number;
  /** Of the processor, which other work on the machine does not lengthen much. */
  readonly buildProcessorSeconds: number;
  readonly search: BreadthFigures;
  /** Growth of the resident memory of the process by the index, for each record; null for a server's. */
  readonly residentBytes: number | null;
  /** Of the files of the saved index, or of the table and its index in a database, for each record. */
  readonly diskBytes: number;
  /** Opening the saved index; null where the index was not saved. */
  readonly openSeconds: number | null;
  readonly curve: readonly BreadthFigures[];
  readonly filtered: readonly FilteredFigures[];
}

export interface IndexTask {
  readonly name: string;
  /** The options of the index. A database keeps its files in `folder` of these options, or on the server of `url`. */
  readonly options: VectorIndexInput;
  /** Where the data were written. */
  readonly folder: string;
  /** The breadths of the curve. */
  readonly breadths: readonly number[];
  /** True if filtered searches are measured. */
  readonly isFiltered: boolean;
}

/** @param sorted ascending. */
function pickPercentile(sorted: readonly number[], percent: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)] as number;
}

export function summariseTimes(times: readonly number[]): Pick<SearchFigures, 'p50' | 'p99'> {
  return {
    p50: median(times),
    p99: pickPercentile(
      [...times].sort((a, b) => a - b),
      99,
    ),
  };
}

/** Bytes that this process has in memory after a garbage collection. */
export function readResidentBytes(): number {
  collectGarbage();
  return process.memoryUsage.rss();
}

/** Bytes of the files of a folder, those of its subfolders included. */
export function measureFolder(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Adds the rows of a folder in pieces, so that the vectors are in memory once. */
export async function addRows(
  folder: string,
  { size, dimension }: MemorySettings,
  ranks: Int32Array,
  add: (rows: readonly (VectorRow & { readonly rank: number })[]) => Promise<unknown>,
): Promise<void> {
  const file = openSync(join(folder, VECTOR_FILE), 'r');
  try {
    const rowBytes = 4 * dimension;
    for (let start = 0; start < size; start += CHUNK) {
      const count = Math.min(CHUNK, size - start);
      const chunk = new Float32Array(count * dimension);
      readSync(file, new Uint8Array(chunk.buffer), 0, count * rowBytes, start * rowBytes);
      await add(
        Array.from({ length: count }, (_, i) => ({
          id: nameRecord(start + i),
          vector: chunk.subarray(i * dimension, (i + 1) * dimension),
          rank: ranks[start + i] as number,
        })),
      );
    }
  } finally {
    closeSync(file);
  }
}

async function measureSearches(
  index: VectorIndex,
  queries: Float32Array,
  exact: readonly (readonly number[])[],
  options: VectorSearchOptions = {},
): Promise<SearchFigures> {
  const times: number[] = [];
  const found: string[][] = [];
  await index.search(queries.slice(0, index.dimension), K, options); // lists what the filter accepts, compiles
  for (let start = 0; start < queries.length; start += index.dimension) {
    const query = queries.slice(start, start + index.dimension);
    const before = performance.now();
    const [matches] = await index.search(query, K, options);
    times.push(performance.now() - before);
    found.push((matches ?? []).map(({ id }) => id));
  }
  return { ...summariseTimes(times), recall: measureRecall(found, exact) };
}

const hasLists = (options: VectorIndexInput) => options.index === 'pgvector' && options.method === 'ivfflat';

/** The options with another breadth of the search. */
function widen(options: VectorIndexInput, breadth: number): VectorIndexInput {
  return { ...options, [hasLists(options) ? 'probes' : 'efSearch']: breadth } as VectorIndexInput;
}

function readBreadth(written: VectorIndexInput): number | null {
  const options = vectorIndexOptions.parse(written);
  if (options.index === 'flat') return null;
  if ('preset' in options) return chooseGraph(options).efSearch;
  return options.method === 'ivfflat' ? options.probes : options.efSearch;
}

/** Bytes of the table on a server, its indexes and long values included. */
async function measureTable(url: string, table: string): Promise<number> {
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ bytes: string }>('select pg_total_relation_size($1) as bytes', [table]);
  await client.end();
  return Number(rows[0]!.bytes);
}

/** Builds an index of the rows in a folder, then searches, saves and reopens it. */
export async function measureIndex(task: IndexTask): Promise<IndexFigures> {
  const { name, options, folder, isFiltered } = task;
  const { settings, queries, ranks, exact } = readMemoryFacts(folder);
  const { size, dimension } = settings;
  const saved = mkdtempSync(join(tmpdir(), 'ragpp-bench-index-'));
  const before = readResidentBytes();
  const index = await openVectorIndex(options, dimension);
  try {
    await index.clear?.();
    const [started, startedProcessor] = [performance.now(), process.cpuUsage()];
    await addRows(folder, settings, ranks, (rows) =>
      index.upsert(rows.map(({ rank, ...row }) => ({ ...row, subject: { attributes: { [RANK]: rank } } }))),
    );
    const loadSeconds = (performance.now() - started) / 1000;
    await index.build();
    const buildSeconds = (performance.now() - started) / 1000;
    const { user, system } = process.cpuUsage(startedProcessor); // microseconds
    const search = { ...(await measureSearches(index, queries, exact[100]!)), breadth: readBreadth(options) };
    const isServer = options.index === 'pgvector' && typeof options.url === 'string';
    const residentBytes = isServer ? null : (readResidentBytes() - before) / size;
    const facts = { queries, exact, size };
    const filtered = isFiltered ? await measureFiltered(index, readBreadth(options), facts) : [];
    const diskBytes = (await measureDisk(index, options, saved)) / size;
    await index.dispose();
    const reopened = await measureReopened(saved, task, dimension, facts);
    const build = { loadSeconds, buildSeconds, buildProcessorSeconds: (user + system) / 1e6 };
    return {
      ...{ name, size, ...build, search, residentBytes, diskBytes },
      ...{ ...reopened, filtered: [...filtered, ...reopened.filtered] },
    };
  } finally {
    await index.dispose();
    rmSync(saved, { recursive: true });
  }
}

/** Saves the index in a folder; a database has its files already. */
async function measureDisk(index: VectorIndex, options: VectorIndexInput, saved: string): Promise<number> {
  if (options.index === 'pgvector')
    return typeof options.url === 'string'
      ? measureTable(options.url, options.table ?? TABLE)
      : measureFolder(options.folder!);
  await index.save(saved);
  return measureFolder(saved);
}

/** What is asked, and what an exact search finds. */
interface Questions extends Pick<MemoryData, 'queries' | 'exact'> {
  readonly size: number;
}

async function measureFiltered(
  index: VectorIndex,
  breadth: number | null,
  { queries, exact, size }: Questions,
): Promise<FilteredFigures[]> {
  const figures: FilteredFigures[] = [];
  for (const percent of SHARES) {
    const visible = countVisible(size, percent);
    const filter = { op: '<', field: RANK, value: visible } as const;
    const searched = await measureSearches(index, queries, exact[percent]!, { filter });
    figures.push({ percent, visible, breadth, ...searched });
  }
  return figures;
}

/** Reopens the saved index, with its own breadth and with those of the curve. */
async function measureReopened(
  saved: string,
  { options, breadths, isFiltered }: IndexTask,
  dimension: number,
  questions: Questions,
): Promise<Pick<IndexFigures, 'openSeconds' | 'curve' | 'filtered'>> {
  const folder = options.index === 'pgvector' ? undefined : saved;
  const started = performance.now();
  await (await openVectorIndex(options, dimension, folder)).dispose();
  const openSeconds = (performance.now() - started) / 1000;
  const curve: BreadthFigures[] = [];
  const filtered: FilteredFigures[] = [];
  for (const breadth of breadths.filter((breadth) => breadth !== readBreadth(options))) {
    const index = await openVectorIndex(widen(options, breadth), dimension, folder);
    curve.push({ breadth, ...(await measureSearches(index, questions.queries, questions.exact[100]!)) });
    if (isFiltered) filtered.push(...(await measureFiltered(index, breadth, questions)));
    await index.dispose();
  }
  return { openSeconds, curve, filtered };
}
