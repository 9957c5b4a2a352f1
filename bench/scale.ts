import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ValidationError } from '../src/core/errors/errors.ts';
import { BACKENDS } from '../src/core/tensors/backend.ts';
import { type ExperimentConfig, resolveConfig } from '../src/lab/config/config.ts';
import { blend, decay, fuse, search } from '../src/rank/retrieval/steps/functions.ts';
import { runInChild } from './child.ts';
import { fitGrowthExponent } from './growth.ts';
import { parsePositiveOption } from './integer-option.ts';
import type { ScaleCost, ScaleTask, StepCost } from './scale-child.ts';
import { writeSyntheticThreads } from './synthetic-threads.ts';
import { formatTextTable } from './text-table.ts';

export const SCALE_USAGE = `scale [options]        time and peak memory of each step of a run, and how they grow with the number of turns
    --sizes N,M    made-up turns, about (default 10000,50000,200000; the largest takes some minutes)
    --queries Q    asked of each size, from all of its test split (default 200)
    --dimension D  of the lsa embeddings (default 128)
    --seed S       (default 7)
    --backend B    auto, ${BACKENDS.join(', ')} (default auto)`;

/** Topics of all sizes, so that the vocabulary of a larger corpus is the same, as that of a language is nearly. */
const TOPICS = 1000;

interface Settings {
  readonly sizes: readonly number[];
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

async function measure(settings: Settings, size: number): Promise<ScaleCost> {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-bench-scale-'));
  try {
    writeSyntheticThreads(folder, size, settings.seed, TOPICS);
    const config = scaleConfig(settings, folder);
    const task: ScaleTask = { config, cacheFolder: join(folder, 'cache'), queries: settings.queries };
    return await runInChild<ScaleCost>('./scale-child.ts', task);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** b of a value that grows as turns^b from one size to the next. */
function formatGrowthExponent(from: ScaleCost, to: ScaleCost, read: (cost: ScaleCost) => number): string {
  return fitGrowthExponent([from, to].map((cost) => ({ size: cost.turns, seconds: read(cost) }))).toFixed(2);
}

/** A row per step: its value at each size, followed by the exponent since the size before. */
function buildScaleTable(
  costs: readonly ScaleCost[],
  digits: number,
  read: (step: StepCost) => number,
  all: (values: readonly number[]) => number,
): string {
  const listScaleCells = (valueIn: (cost: ScaleCost) => number) =>
    costs.flatMap((cost, i) => {
      const text = valueIn(cost).toFixed(digits);
      return i === 0 ? [text] : [text, formatGrowthExponent(costs[i - 1] as ScaleCost, cost, valueIn)];
    });
  const header = costs.flatMap(({ turns }, i) => (i === 0 ? [`${turns}`] : [`${turns}`, 'exp']));
  const buildStepRow = (name: string) => [
    name,
    ...listScaleCells(({ steps }) => read(steps.find(({ step }) => step === name) as StepCost)),
  ];
  const { steps: named } = costs[0] as ScaleCost;
  const buildStepRows = (isPeer: boolean) =>
    named.filter((step) => step.isPeer === isPeer).map(({ step }) => buildStepRow(step));
  const own = ['all', ...listScaleCells(({ steps }) => all(steps.filter(({ isPeer }) => !isPeer).map(read)))];
  return formatTextTable(['turns', ...header], [...buildStepRows(false), own, ...buildStepRows(true)]);
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

/** Prints the table of the bench. */
export async function benchScale(args: readonly string[]): Promise<void> {
  const settings = parseOptions(args);
  const costs: ScaleCost[] = [];
  for (const size of settings.sizes) {
    costs.push(await measure(settings, size));
    const { turns, wallSeconds } = costs.at(-1) as ScaleCost;
    process.stderr.write(`${turns} turns: ${wallSeconds.toFixed(1)} s on the clock\n`);
  }
  const [{ backend, queries }] = costs as [ScaleCost, ...ScaleCost[]];
  console.log(
    `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; node ${process.version}; backend ${backend}`,
  );
  console.log(
    `data: made-up threads, ${queries} queries, lsa of ${settings.dimension} dimensions, seed ${settings.seed}; empty cache`,
  );
  console.log('exp: b of a value that grows as turns^b since the size before it; 1 is linear');
  console.log('hnswlib alone: adding the same vectors to a graph with the same settings; not part of all\n');
  console.log(formatScale(costs));
}
