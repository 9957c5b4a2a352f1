import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openCurator } from '../src/memory/curation/curator.ts';
import { openMemory } from '../src/memory/engine/open-memory.ts';
import { parsePositiveOption } from './integer-option.ts';
import { drawMemoryData } from './memory-data.ts';
import { createRecordMaker } from './memory-writes.ts';
import { formatTextTable } from './text-table.ts';

export const CURATION_USAGE = `curation [options]     how many records a second a curator decides about by rules, with its log and its memory on disk
    --n N          records, of which every fourth contradicts the one before it, and some others by chance (default 10000, which takes some 6 minutes)
    --dimension D  of the vectors (default 512)
    --seed S       (default 7)`;

interface Settings {
  readonly size: number;
  readonly dimension: number;
  readonly seed: number;
}

interface Figures {
  readonly name: string;
  readonly seconds: number;
  /** Seconds of the last tenth of the records. */
  readonly lastSeconds: number;
  /** Decisions of the kind delete. */
  readonly contradictions: number;
}

/** A query may take as long as it takes. */
const PATIENCE_MILLISECONDS = 600_000;
const countLast = (size: number) => Math.ceil(size / 10);

/** Curates all records into a memory in a new folder. */
async function measureCuration(
  { size, dimension, seed }: Settings,
  vectors: Float32Array,
  index: 'flat' | 'hnsw',
  fsync: 'always' | 'never',
): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-bench-curation-'));
  const settings = { folder: join(folder, 'memory'), dimension, fsync, timeoutMs: PATIENCE_MILLISECONDS };
  const memory = await openMemory({ ...settings, indexes: { main: { index } } });
  const curator = await openCurator(memory, join(folder, 'log'), {}, { fsync });
  const makeRecord = createRecordMaker(dimension, seed);
  const started = performance.now();
  let last = started;
  for (let i = 0; i < size; i++) {
    const row = i % 4 === 3 ? i - 1 : i;
    if (i === size - countLast(size)) last = performance.now();
    await curator.curate({ ...makeRecord(i), embedding: vectors.slice(row * dimension, (row + 1) * dimension) });
  }
  const ended = performance.now();
  const contradictions = curator.entries().filter(({ operation }) => operation === 'delete').length;
  await curator.close();
  await memory.close();
  rmSync(folder, { recursive: true });
  const name = `${index}, fsync ${fsync}`;
  return { name, seconds: (ended - started) / 1000, lastSeconds: (ended - last) / 1000, contradictions };
}

/** Prints the table of the bench. */
export async function benchCuration(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      n: { type: 'string', default: '10000' },
      dimension: { type: 'string', default: '512' },
      seed: { type: 'string', default: '7' },
    },
  });
  const size = parsePositiveOption('n', values.n);
  const dimension = parsePositiveOption('dimension', values.dimension);
  const seed = parsePositiveOption('seed', values.seed);
  const { vectors } = drawMemoryData({ size, dimension, seed, queries: 1, data: 'manifold' });
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}; node ${process.version}`,
  );
  const rows: Figures[] = [];
  for (const index of ['flat', 'hnsw'] as const)
    for (const fsync of ['always', 'never'] as const)
      rows.push(await measureCuration({ size, dimension, seed }, vectors, index, fsync));
  const header = ['memory', 'records', 'contradictions', 'seconds', 'records/s', 'records/s, last tenth'];
  const cells = rows.map(({ name, seconds, lastSeconds, contradictions }) => [
    ...[name, `${size}`, `${contradictions}`, seconds.toFixed(2)],
    ...[(size / seconds).toFixed(0), (countLast(size) / lastSeconds).toFixed(0)],
  ]);
  console.log(formatTextTable(header, cells));
}
