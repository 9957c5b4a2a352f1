import { rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { findAddon } from '../src/core/backends/native-addon.ts';
import { ValidationError } from '../src/core/errors/errors.ts';
import { BACKENDS, type BackendChoice, useBackend } from '../src/core/tensors/backend.ts';
import { HNSW_DEFAULTS } from '../src/index/vectors/vector-kind.ts';
import { type BenchSettings, K, type Timing, timeFlat, timePypi } from './candidate-timing.ts';
import { runInChild } from './child.ts';
import type { ChildTask } from './hnsw-child.ts';
import { buildNativeCopy, detectVectorInstructions, findHnswlibFolder, NATIVE_FLAGS } from './hnswlib-build.ts';
import { parsePositiveOption } from './integer-option.ts';
import { installPython } from './peers/venv.ts';
import { formatTextTable } from './text-table.ts';

export const CANDIDATES_USAGE = `candidates [options]   build and query time of hnsw beside flat, with recall@${K}
    --size N       turns (default 10000)
    --dimension D  of the vectors (default 512)
    --queries Q    (default 200)
    --seed S       (default 7)
    --backend B    auto, ${BACKENDS.join(', ')} (default auto)
    --graph M,C,S  M, efConstruction and efSearch (default ${Object.values(HNSW_DEFAULTS).join(',')})
    --also-pypi    also measures hnswlib of PyPI, in a virtual environment that it makes
    --also-avx     also builds hnswlib-node with CXXFLAGS="${NATIVE_FLAGS}" in a temporary folder and measures that`;

interface Row {
  readonly name: string;
  readonly timing: Timing;
}

/** Prints the table of the bench. */
export async function benchCandidates(args: readonly string[]): Promise<void> {
  const { settings, backend: choice, alsoAvx, alsoPypi } = parseOptions(args);
  const backend = await useBackend(choice);
  const { size, dimension, queries, seed } = settings;
  const { m, efConstruction, efSearch } = settings.graph;
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; node ${process.version}; backend ${backend}`,
  );
  console.log(`data: ${size} x ${dimension} unit vectors in 100 clusters, ${queries} queries, seed ${seed}`);
  console.log(`hnsw: M ${m}, efConstruction ${efConstruction}, efSearch ${efSearch}; k ${K}; one thread`);
  const rows: Row[] = [{ name: 'flat (exact)', timing: await timeFlat(settings) }];
  const measure = async (name: string, library: ChildTask['library']) => {
    const timing = await runInChild<Timing>('./hnsw-child.ts', { settings, backend, library } satisfies ChildTask);
    rows.push({ name: `hnsw, ${name}`, timing });
  };
  const describeBuild = (build: string, folder: string) => `${build} (${detectVectorInstructions(folder)})`;
  await measure(describeBuild('installed build', findHnswlibFolder()), { folder: findHnswlibFolder() });
  const addon = findAddon('hnsw');
  if ('path' in addon) await measure('addon', { addon: addon.path });
  else console.log(`addon: ${addon.fault}`);
  if (alsoPypi) {
    const python = installPython('memory-requirements.txt');
    if ('missing' in python) console.log(`hnswlib of PyPI: ${python.missing}`);
    else rows.push({ name: 'hnswlib of PyPI', timing: await timePypi(settings, python) });
  }
  if (alsoAvx) {
    const copy = buildNativeCopy();
    try {
      await measure(describeBuild(NATIVE_FLAGS, copy.folder), { folder: copy.folder });
    } finally {
      rmSync(copy.root, { recursive: true });
    }
  }
  console.log(`\n${formatTable(rows)}`);
}

function parseGraph(text: string): BenchSettings['graph'] {
  const numbers = text.split(',').map((number) => parsePositiveOption('graph', number));
  const [m, efConstruction, efSearch] = numbers;
  if (m === undefined || efConstruction === undefined || efSearch === undefined || numbers.length > 3)
    throw new ValidationError(`--graph has not three numbers: ${text}; give M, efConstruction and efSearch`);
  return { m, efConstruction, efSearch };
}

function parseOptions(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      size: { type: 'string', default: '10000' },
      dimension: { type: 'string', default: '512' },
      queries: { type: 'string', default: '200' },
      seed: { type: 'string', default: '7' },
      backend: { type: 'string', default: 'auto' },
      graph: { type: 'string', default: Object.values(HNSW_DEFAULTS).join(',') },
      'also-avx': { type: 'boolean', default: false },
      'also-pypi': { type: 'boolean', default: false },
    },
  });
  return {
    settings: {
      graph: parseGraph(values.graph),
      size: parsePositiveOption('size', values.size),
      dimension: parsePositiveOption('dimension', values.dimension),
      queries: parsePositiveOption('queries', values.queries),
      seed: parsePositiveOption('seed', values.seed),
    },
    backend: values.backend as BackendChoice,
    alsoAvx: values['also-avx'],
    alsoPypi: values['also-pypi'],
  };
}

/** Times, and how many times as long as flat they are; the first row is flat. */
export function formatTable(rows: readonly Row[]): string {
  const flat = rows[0]!.timing;
  const header = ['index', 'build s', 'of cpu', 'single ms', 'vs flat', 'batch ms/query', 'of cpu', 'vs flat'];
  const lines = rows.map(({ name, timing }) => [
    name,
    timing.buildSeconds.toFixed(2),
    timing.buildProcessorSeconds.toFixed(2),
    timing.singleMilliseconds.toFixed(3),
    `${(timing.singleMilliseconds / flat.singleMilliseconds).toFixed(2)}x`,
    timing.batchMilliseconds.toFixed(3),
    timing.batchProcessorMilliseconds.toFixed(3),
    `${(timing.batchMilliseconds / flat.batchMilliseconds).toFixed(2)}x`,
    timing.recall.toFixed(4),
  ]);
  return formatTextTable([...header, `recall@${K}`], lines);
}
