import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findAddon } from '../src/core/backends/native-addon.ts';
import { ValidationError } from '../src/core/errors/errors.ts';
import { BACKENDS } from '../src/core/tensors/backend.ts';
import { type ExperimentConfig, resolveConfig } from '../src/lab/config/config.ts';
import { describeCommit } from '../src/lab/run/environment.ts';
import { blend, decay, fuse, search } from '../src/rank/retrieval/steps/functions.ts';
import { runInChild } from './child.ts';
import { fitGrowthExponent } from './growth.ts';
import { parseIntegerOption, parsePositiveOption } from './integer-option.ts';
import type { ScaleCost, ScaleTask, StepCost } from './scale-child.ts';
import { writeSyntheticThreads } from './synthetic-threads.ts';
import { formatTextTable } from './text-table.ts';

export const SCALE_USAGE = `scale [options]        time and peak memory of each step of a run, and how they grow with the number of turns
    --sizes N,M    made-up turns, about (default 10000,50000,200000, some minutes; 1000000 takes the most of an hour)
    --hnswlib N    up to N turns, measures hnswlib alone too (default 200000; 0 for never)
    --queries Q    asked of each size, from all of its test split (default 200)
    --dimension D  of the lsa embeddings (default 128)
    --seed S       (default 7)
    --backend B    auto, ${BACKENDS.join(', ')} (default auto)`;

const PROGRESS_MILLISECONDS = 30_000;
const AIM = 1.1;
const GRAPH_AIM = 1.3;

/** Topics of all sizes, so that the vocabulary of a larger corpus is the same, as that of a language is nearly. */
const TOPICS = 1000;

interface Settings {
  readonly sizes: readonly number[];
  /** The largest size at which hnswlib alone is measured. */
  readonly hnswlib: number;
  readonly queries: number;
  readonly dimension: number;
  readonly seed: number;
  readonly backend: string;
}

function parseOptions(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      sizes: { type: 'string', default: '10000,50000,200000' },
      hnswlib: { type: 'string', default: '200000' },
      queries: { type: 'string', default: '200' },
      dimension: { type: 'string', default: '128' },
      seed: { type: 'string', default: '7' },
      backend: { type: 'string', default: 'auto' },
    },
  });
  const sizes = values.sizes.split(',').map((size) => parsePositiveOption('sizes', size));
  if (sizes.some((size, i) => i > 0 && size <= (sizes[i - 1] as number)))
    throw new ValidationError(`--sizes do not ascend: ${values.sizes}; sort them`);
  return {
    sizes,
    hnswlib: parseIntegerOption('hnswlib', values.hnswlib, 0),
    queries: parsePositiveOption('queries', values.queries),
    dimension: parsePositiveOption('dimension', values.dimension),
    seed: parsePositiveOption('seed', values.seed),
    backend: values.backend,
  };
}

function scaleConfig({ dimension, seed, backend }: Settings, folder: string): ExperimentConfig {
  return resolveConfig(
    {
      name: 'scale',
      seed,
      backend,
      dataset: { name: 'jsonl', path: folder },
      embedding: { encoder: 'lsa', dimension },
      evaluation: { baseline: 'fused', metrics: ['mrr@10', 'ndcg@10'] },
      arms: {
        fused: [search({ bm25: {}, hnsw: {} }), fuse({ convex: { hnsw: 0.8, bm25: 'rest' } })],
        unified: { from: 'fused', then: [decay(24), blend({ trajectory: {}, unified: {} })] },
      },
    },
    'bench scale',
  );
}

/** Runs all steps in a process of its own, and reports twice a minute which of them it is at. */
async function measure(settings: Settings, size: number, signal: AbortSignal): Promise<ScaleCost> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-bench-scale-'));
  let [step, began] = ['start', performance.now()];
  const report = () => {
    const seconds = (performance.now() - began) / 1000;
    process.stderr.write(`  ${step}: at work for ${seconds.toFixed(0)} s\n`);
  };
  const timer = setInterval(report, PROGRESS_MILLISECONDS);
  try {
    writeSyntheticThreads(folder, size, settings.seed, TOPICS);
    const task: ScaleTask = {
      config: scaleConfig(settings, folder),
      cacheFolder: join(folder, 'cache'),
      queries: settings.queries,
      withHnswlib: size <= settings.hnswlib,
    };
    const note = (name: string) => {
      [step, began] = [name, performance.now()];
    };
    return await runInChild<ScaleCost>('./scale-child.ts', task, {}, { note, signal });
  } finally {
    clearInterval(timer);
    rmSync(folder, { recursive: true });
  }
}

/** The largest exponent that a step should have: an insertion into a graph takes longer the larger the graph is. */
const readAim = (step: string) => (step === 'candidates, hnsw' ? GRAPH_AIM : AIM);

/** b of values that grow as turns^b, marked if it is above the aim; empty if one is missing. */
function formatGrowthExponent(
  costs: readonly ScaleCost[],
  values: readonly (number | undefined)[],
  aim: number,
): string {
  if (values.includes(undefined)) return '';
  const sized = costs.map(({ turns }, i) => ({ size: turns, seconds: values[i] as number }));
  const exponent = fitGrowthExponent(sized).toFixed(2);
  return `${exponent}${Number(exponent) > aim ? '*' : ' '}`;
}

/** A row per step: its values, all but the first followed by the exponent since the size before, then that of all. */
function buildScaleTable(
  costs: readonly ScaleCost[],
  digits: number,
  read: (step: StepCost) => number,
  all: (values: readonly number[]) => number,
): string {
  const hasFit = costs.length > 2;
  const buildRow = (name: string, values: readonly (number | undefined)[], aim = Number.POSITIVE_INFINITY) => [
    name,
    ...values.flatMap((value, i) => {
      const text = value?.toFixed(digits) ?? '';
      const lastTwo = [i - 1, i + 1] as const;
      return i === 0 ? [text] : [text, formatGrowthExponent(costs.slice(...lastTwo), values.slice(...lastTwo), aim)];
    }),
    ...(hasFit ? [formatGrowthExponent(costs, values, aim)] : []),
  ];
  const buildStepRow = ({ step: name, isPeer }: StepCost) => {
    const found = costs.map(({ steps }) => steps.find(({ step }) => step === name));
    const values = found.map((step) => step && read(step));
    return isPeer ? buildRow(name, values) : buildRow(name, values, readAim(name));
  };
  const header = costs.flatMap(({ turns }, i) => (i === 0 ? [`${turns}`] : [`${turns}`, 'exp ']));
  if (hasFit) header.push('fit ');
  const [{ steps: named }] = costs as [ScaleCost, ...ScaleCost[]];
  const buildStepRows = (peers: boolean) => named.filter(({ isPeer }) => isPeer === peers).map(buildStepRow);
  const own = costs.map(({ steps }) => all(steps.filter(({ isPeer }) => !isPeer).map(read)));
  return formatTextTable(['turns', ...header], [...buildStepRows(false), buildRow('all', own), ...buildStepRows(true)]);
}

/** Seconds and memory of each step at each size, and how they grow. */
export function formatScale(costs: readonly ScaleCost[]): string {
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const seconds = buildScaleTable(costs, 2, (step) => step.seconds, sum);
  const memory = buildScaleTable(
    costs,
    0,
    (step) => step.peak / 2 ** 20,
    (values) => Math.max(...values),
  );
  return `seconds of the processor\n\n${seconds}\n\npeak memory, MiB\n\n${memory}`;
}

/** Ctrl-C ends the process that is measured and removes its files. */
async function measureAll(settings: Settings): Promise<ScaleCost[]> {
  const stop = new AbortController();
  const interrupt = () => stop.abort();
  process.once('SIGINT', interrupt);
  const costs: ScaleCost[] = [];
  try {
    for (const size of settings.sizes) {
      const cost = await measure(settings, size, stop.signal);
      costs.push(cost);
      process.stderr.write(`${cost.turns} turns: ${cost.wallSeconds.toFixed(1)} s on the clock\n`);
    }
  } finally {
    process.off('SIGINT', interrupt);
  }
  return costs;
}

/** Prints the table of the bench. */
export async function benchScale(args: readonly string[]): Promise<void> {
  const settings = parseOptions(args);
  const [load = 0] = loadavg();
  const costs = await measureAll(settings);
  const [{ backend, queries }] = costs as [ScaleCost, ...ScaleCost[]];
  const commit = describeCommit();
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; load ${load.toFixed(1)} at the start; node ${process.version}; backend ${backend}; commit ${commit}`,
  );
  console.log(
    `data: made-up threads, ${queries} queries, lsa of ${settings.dimension} dimensions, seed ${settings.seed}; empty cache`,
  );
  const addon = findAddon('hnsw');
  console.log(`hnsw by ${'path' in addon ? 'its addon' : `hnswlib-node (addon: ${addon.fault})`}`);
  console.log(
    `exp: b of a value that grows as turns^b since the size before it, fit: over all sizes by least squares; 1 is linear; * above ${AIM}, of hnsw ${GRAPH_AIM}`,
  );
  console.log('hnswlib alone: adding the same vectors to a graph with the same settings; not part of all\n');
  console.log(formatScale(costs));
}
