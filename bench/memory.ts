import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createTerminalProgress } from '../src/core/terminal/progress.ts';
import type { VectorIndexInput } from '../src/index/vectors/registry.ts';
import { findInstalledVersion } from '../src/lab/run/environment.ts';
import { runInChild } from './child.ts';
import { parsePositiveOption } from './integer-option.ts';
import type { MemoryTask } from './memory-child.ts';
import { DATA_KINDS, drawMemoryData, K, type MemorySettings, writeMemoryData } from './memory-data.ts';
import { type IndexFigures, TABLE } from './memory-index.ts';
import type { QueryFigures } from './memory-queries.ts';
import { type RecoveryFigures, writeJournal } from './memory-recovery.ts';
import {
  formatCurves,
  formatFiltered,
  formatIndexes,
  formatQueries,
  formatRecovery,
  formatWrites,
} from './memory-tables.ts';
import { measureSqliteWrites, type WriteFigures, type WriteSettings } from './memory-writes.ts';
import { parseNames } from './name-option.ts';
import { type FoundPython, findSqlitePython, runPeer } from './peers/python.ts';
import { installPython } from './peers/venv.ts';
import { slowSyncs } from './slow-disk.ts';

const PARTS = ['indexes', 'filtered', 'queries', 'writes', 'recovery'] as const;
type Part = (typeof PARTS)[number];

/** The indexes of this project, by the name in the tables. */
const INDEXES = {
  flat: { index: 'flat' },
  'hnsw-paper': { index: 'hnsw', preset: 'paper' },
  'hnsw-specification': { index: 'hnsw', preset: 'specification' },
  'pglite-hnsw': { index: 'pgvector', table: TABLE },
  'pglite-ivfflat': { index: 'pgvector', table: TABLE, method: 'ivfflat' },
  'postgres-hnsw': { index: 'pgvector', table: TABLE },
  'postgres-halfvec': { index: 'pgvector', table: `${TABLE}_halfvec`, storage: 'halfvec' },
  'postgres-strict': { index: 'pgvector', table: TABLE, iterativeScan: 'strict_order' },
  'postgres-off': { index: 'pgvector', table: TABLE, iterativeScan: 'off' },
  'postgres-ivfflat': { index: 'pgvector', table: TABLE, method: 'ivfflat' },
} as const satisfies Readonly<Record<string, VectorIndexInput>>;

/** Those of peers/vector_indexes.py. */
const PEERS = [
  'faiss-flat',
  'faiss-hnsw',
  'faiss-ivfflat',
  'hnswlib-paper',
  'hnswlib-specification',
  'sqlite-vec',
] as const;
const NAMES = [...Object.keys(INDEXES), ...PEERS];

export const MEMORY_USAGE = `memory [options]       the memory engine: indexes beside faiss and hnswlib, filtered search, queries with priors, acknowledged writes beside SQLite, recovery
    --n N          records (default 100000, which takes some 30 minutes)
    --dimension D  of the vectors (default 512)
    --queries Q    (default 200)
    --data KIND    ${DATA_KINDS.join(', ')} (default manifold)
    --seed S       (default 7)
    --only PARTS   some of ${PARTS.join(',')} (default all)
    --indexes LIST some of ${NAMES.join(',')} (default all)
    --pglite-n N   records of the indexes in PGlite, whose hnsw takes an hour for 100000 (default 20000)
    --postgres URL a server with pgvector, whose tables ${TABLE} and ${TABLE}_halfvec are replaced; without one postgres-* are left out
    --breadths E,F efSearch or probes of the curve of time and recall (default 50,128,256,512)
    --writers W,X  that write at once (default 1,8,64)
    --seconds T    that each number of writers writes (default 3)
    --sync-ms T    by which each sync of a slower disk takes longer (default 2)`;

interface Options extends MemorySettings {
  readonly parts: readonly Part[];
  readonly indexes: readonly string[];
  readonly pgliteSize: number;
  readonly postgres: string | undefined;
  readonly breadths: readonly number[];
  readonly writers: readonly number[];
  readonly seconds: number;
  readonly syncDelay: number;
}

function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      n: { type: 'string', default: '100000' },
      dimension: { type: 'string', default: '512' },
      queries: { type: 'string', default: '200' },
      data: { type: 'string', default: 'manifold' },
      seed: { type: 'string', default: '7' },
      only: { type: 'string' },
      indexes: { type: 'string' },
      'pglite-n': { type: 'string', default: '20000' },
      postgres: { type: 'string' },
      breadths: { type: 'string', default: '50,128,256,512' },
      writers: { type: 'string', default: '1,8,64' },
      seconds: { type: 'string', default: '3' },
      'sync-ms': { type: 'string', default: '2' },
    },
  });
  const parseList = (name: 'breadths' | 'writers') =>
    values[name].split(',').map((text) => parsePositiveOption(name, text));
  const number = (name: 'n' | 'dimension' | 'queries' | 'seed' | 'seconds' | 'pglite-n' | 'sync-ms') =>
    parsePositiveOption(name, values[name]);
  return {
    size: number('n'),
    dimension: number('dimension'),
    queries: number('queries'),
    data: parseNames('data', values.data, DATA_KINDS)[0]!,
    seed: number('seed'),
    parts: parseNames('only', values.only, PARTS),
    indexes: parseNames('indexes', values.indexes, NAMES),
    pgliteSize: Math.min(number('n'), number('pglite-n')),
    postgres: values.postgres,
    breadths: parseList('breadths'),
    writers: parseList('writers'),
    seconds: number('seconds'),
    syncDelay: number('sync-ms'),
  };
}

/** Calls `work` with a new folder, which is removed afterwards. */
async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-bench-memory-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type OwnName = keyof typeof INDEXES;
const isOwn = (name: string): name is OwnName => Object.hasOwn(INDEXES, name);
const PGLITE_PACKAGES = ['@electric-sql/pglite', '@electric-sql/pglite-pgvector'];
const isPglite = (name: string) => name.startsWith('pglite');

/** Where the index keeps its rows, besides the options that the table names. */
function placeIndex(name: OwnName, folder: string, { postgres }: Options): VectorIndexInput {
  const written: VectorIndexInput = INDEXES[name];
  if (written.index !== 'pgvector') return written;
  return isPglite(name) ? { ...written, folder: join(folder, name) } : { ...written, url: postgres ?? null };
}

function measureOwn(name: OwnName, folder: string, options: Options): Promise<IndexFigures> {
  const written = placeIndex(name, folder, options);
  const breadths = written.index === 'flat' ? [] : options.breadths;
  const isFiltered = options.parts.includes('filtered');
  const index = { name, options: written, folder, breadths, isFiltered };
  return runInChild<IndexFigures>('./memory-child.ts', { index } satisfies MemoryTask);
}

function measurePeer(name: string, folder: string, { breadths }: Options, python: FoundPython): IndexFigures {
  return runPeer<IndexFigures>(python, 'vector_indexes.py', folder, name, JSON.stringify(breadths));
}

/** The indexes that can be measured here; prints why the others are left out. */
function selectIndexes({ indexes, postgres }: Options): { names: readonly string[]; python: FoundPython | null } {
  const found = indexes.every(isOwn) ? null : installPython('memory-requirements.txt');
  if (found !== null) console.log(`peers: ${'missing' in found ? found.missing : `${found.versions}, one thread`}`);
  if (postgres === undefined && indexes.some((name) => name.startsWith('postgres')))
    console.log('postgres: no server; name one with --postgres');
  const missing = PGLITE_PACKAGES.filter((name) => findInstalledVersion(name) === null);
  if (missing.length > 0 && indexes.some(isPglite))
    console.log(`pglite: ${missing.join(' and ')} not installed; run .ci/databases npm run bench -- memory`);
  const python = found !== null && 'command' in found ? found : null;
  const canRun = (name: string) => {
    if (!isOwn(name)) return python !== null;
    return isPglite(name) ? missing.length === 0 : postgres !== undefined || !name.startsWith('postgres');
  };
  return { names: indexes.filter(canRun), python };
}

/** One index after the other, each in a process of its own. */
async function measureIndexes(options: Options): Promise<void> {
  const { names, python } = selectIndexes(options);
  const rows: IndexFigures[] = [];
  const progress = createTerminalProgress()('indexes', names.length);
  const measureAll = (chosen: readonly string[], size: number) =>
    withFolder(async (folder) => {
      if (chosen.length > 0) writeMemoryData(folder, drawMemoryData({ ...options, size }));
      for (const name of chosen) {
        rows.push(isOwn(name) ? await measureOwn(name, folder, options) : measurePeer(name, folder, options, python!));
        progress.update(rows.length);
      }
    });
  await measureAll(
    names.filter((name) => !isPglite(name)),
    options.size,
  );
  await measureAll(names.filter(isPglite), options.pgliteSize);
  progress.finish(`${rows.length} built and searched`);
  console.log(`\n${formatIndexes(rows, K)}`);
  for (const table of [formatCurves(rows, K), formatFiltered(rows, K)]) if (table !== '') console.log(`\n${table}`);
}

/** Of the indexes in this process. */
async function measureMemories(options: Options): Promise<void> {
  const rows = await withFolder(async (folder) => {
    writeMemoryData(folder, drawMemoryData(options));
    const figures: QueryFigures[] = [];
    for (const name of options.indexes) {
      if (!isOwn(name) || INDEXES[name].index === 'pgvector') continue;
      const queries = { name, index: INDEXES[name], folder };
      figures.push(await runInChild<QueryFigures>('./memory-child.ts', { queries } satisfies MemoryTask));
    }
    return figures;
  });
  console.log(`\n${formatQueries(rows)}`);
}

/** On this disk, and on one whose syncs take longer. */
async function measureAllWrites(options: Options): Promise<void> {
  const found = findSqlitePython();
  if ('missing' in found) console.log(`peer: ${found.missing}`);
  const { writers, seconds, dimension, seed } = options;
  const settings: WriteSettings = { writers, seconds, dimension, seed };
  await withFolder(async (folder) => {
    const stores = [];
    for (const delay of [0, options.syncDelay]) {
      const environment = delay > 0 ? slowSyncs(delay, folder) : {};
      const disk = delay > 0 ? `, +${delay} ms a sync` : '';
      const task: MemoryTask = { writes: settings };
      const rows = await runInChild<WriteFigures[]>('./memory-child.ts', task, environment);
      stores.push({ name: `ragpp store${disk}`, rows });
      if ('missing' in found) continue;
      const sqlite = measureSqliteWrites({ ...found, environment }, settings);
      stores.push({ name: `SQLite ${sqlite.version}, FULL${disk}`, rows: sqlite.rows });
    }
    console.log(`\n${formatWrites(stores)}`);
  });
}

async function measureRecovery({ size, dimension, seed }: Options): Promise<void> {
  const rows = await withFolder(async (folder) => {
    await writeJournal(folder, { records: size, dimension, seed });
    const open = (from: RecoveryFigures['from']) =>
      runInChild<RecoveryFigures>('./memory-child.ts', { opening: { from, folder } } satisfies MemoryTask);
    return [await open('journal'), await open('snapshot')];
  });
  console.log(`\n${formatRecovery(rows)}`);
}

/** Prints the tables of the bench. */
export async function benchMemory(args: readonly string[]): Promise<void> {
  const options = parseOptions(args);
  const { size, dimension, data, queries, seed, parts } = options;
  const load = loadavg().map((value) => value.toFixed(1));
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, load ${load[0]}; node ${process.version}`,
  );
  console.log(`data: ${size} x ${dimension} unit vectors, ${data}, ${queries} queries, seed ${seed}`);
  if (parts.includes('indexes') || parts.includes('filtered')) await measureIndexes(options);
  if (parts.includes('queries')) await measureMemories(options);
  if (parts.includes('writes')) await measureAllWrites(options);
  if (parts.includes('recovery')) await measureRecovery(options);
}
