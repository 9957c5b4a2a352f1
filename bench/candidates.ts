import { rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { HNSW_DEFAULTS } from '../src/index/vectors/vector-kind.ts';
import { type BenchSettings, K, type Timing, timeFlat } from './candidate-timing.ts';
import { runInChild } from './child.ts';
import type { ChildTask } from './hnsw-child.ts';
import { buildNativeCopy, detectVectorInstructions, findHnswlibFolder, NATIVE_FLAGS } from './hnswlib-build.ts';
import { parsePositiveOption } from './integer-option.ts';
import { formatTextTable } from './text-table.ts';

export const CANDIDATES_USAGE = `candidates [options]   build and query time of hnsw beside flat, with recall@${K}
    --size N       turns (default 10000)
    --dimension D  of the vectors (default 512)
    --queries Q    (default 200)
    --seed S       (default 7)
    --backend B    auto, ${BACKENDS.join(', ')} (default auto)
    --also-avx     also builds hnswlib-node with CXXFLAGS="${NATIVE_FLAGS}" in a temporary folder and measures that`;

interface Row {
  readonly name: string;
  readonly timing: Timing;
}

/** Prints the table of the bench. */
export async function benchCandidates(args: readonly string[]): Promise<void> {
  const { settings, backend: choice, alsoAvx } = parseOptions(args);
  const backend = await useBackend(choice);
  const { size, dimension, queries, seed } = settings;
  const { m, efConstruction, efSearch } = HNSW_DEFAULTS;
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; node ${process.version}; backend ${backend}`,
  );
  console.log(`data: ${size} x ${dimension} unit vectors in 100 clusters, ${queries} queries, seed ${seed}`);
  console.log(`hnsw: M ${m}, efConstruction ${efConstruction}, efSearch ${efSearch}; k ${K}; one thread`);
  const rows: Row[] = [{ name: 'flat (exact)', timing: await timeFlat(settings) }];
  const measure = async (build: string, folder: string) => {
    const timing = await runInChild<Timing>('./hnsw-child.ts', { settings, backend, folder } satisfies ChildTask);
    rows.push({ name: `hnsw, ${build} (${detectVectorInstructions(folder)})`, timing });
  };
  await measure('installed build', findHnswlibFolder());
  if (alsoAvx) {
    const copy = buildNativeCopy();
    try {
      await measure(NATIVE_FLAGS, copy.folder);
    } finally {
      rmSync(copy.root, { recursive: true });
    }
  }
  console.log(`\n${formatTable(rows)}`);
  if (!alsoAvx)
    console.log(`\nfor the machine's vector instructions: CXXFLAGS="${NATIVE_FLAGS}" npm rebuild hnswlib-node`);
}

function parseOptions(args: readonly string[]): { settings: BenchSettings; backend: BackendChoice; alsoAvx: boolean } {
  const { values } = parseArgs({
    args: [...args],
    options: {
      size: { type: 'string', default: '10000' },
      dimension: { type: 'string', default: '512' },
      queries: { type: 'string', default: '200' },
      seed: { type: 'string', default: '7' },
      backend: { type: 'string', default: 'auto' },
      'also-avx': { type: 'boolean', default: false },
    },
  });
  return {
    settings: {
      size: parsePositiveOption('size', values.size),
      dimension: parsePositiveOption('dimension', values.dimension),
      queries: parsePositiveOption('queries', values.queries),
      seed: parsePositiveOption('seed', values.seed),
    },
    backend: values.backend as BackendChoice,
    alsoAvx: values['also-avx'],
  };
}

/** Times, and how many times as long as flat they are; the first row is flat. */
export function formatTable(rows: readonly Row[]): string {
  const flat = rows[0]!.timing;
  const header = ['index', 'build s', 'single ms', 'vs flat', 'batch ms/query', 'vs flat', `recall@${K}`];
  const lines = rows.map(({ name, timing }) => [
    name,
    timing.buildSeconds.toFixed(2),
    timing.singleMilliseconds.toFixed(3),
    `${(timing.singleMilliseconds / flat.singleMilliseconds).toFixed(2)}x`,
    timing.batchMilliseconds.toFixed(3),
    `${(timing.batchMilliseconds / flat.batchMilliseconds).toFixed(2)}x`,
    timing.recall.toFixed(4),
  ]);
  return formatTextTable(header, lines);
}
