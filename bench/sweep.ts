import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BACKENDS } from '../src/core/tensors/backend.ts';
import { type ExperimentConfig, resolveConfig } from '../src/lab/config/config.ts';
import { blend, decay, fuse, search } from '../src/rank/retrieval/steps/functions.ts';
import { runInChild } from './child.ts';
import { parsePositiveOption } from './integer-option.ts';
import type { RunCost, SweepTask } from './sweep-child.ts';
import { writeSyntheticThreads } from './synthetic-threads.ts';

export const SWEEP_USAGE = `sweep [options]        24 arms that differ in rerank weights against one, an empty cache each
    --synthetic N  a made-up corpus of about N turns instead of the mail threads
    --queries Q    limit the queries of each split, of conversations drawn by the seed (default: all)
    --repeats R    runs of each kind, alternating; the fastest counts (default 3)
    --seed S       (default 7)
    --backend B    auto, ${BACKENDS.join(', ')} (default auto)`;

/** The target cost of a sweep, in arms. */
const TARGET = 1.6;

const TRAJECTORY_WEIGHTS = [0.05, 0.1, 0.2, 0.3, 0.5, 0.7];
const ATTENTION_WEIGHTS = [0.05, 0.1, 0.3, 0.5];

interface Settings {
  /** Turns; null for the mail threads. */
  readonly synthetic: number | null;
  readonly queries: number | null;
  readonly repeats: number;
  readonly seed: number;
  readonly backend: string;
}

function parseOptions(args: readonly string[]): Settings {
  const { values } = parseArgs({
    args: [...args],
    options: {
      synthetic: { type: 'string' },
      queries: { type: 'string' },
      repeats: { type: 'string', default: '3' },
      seed: { type: 'string', default: '7' },
      backend: { type: 'string', default: 'auto' },
    },
  });
  return {
    synthetic: values.synthetic === undefined ? null : parsePositiveOption('synthetic', values.synthetic),
    queries: values.queries === undefined ? null : parsePositiveOption('queries', values.queries),
    repeats: parsePositiveOption('repeats', values.repeats),
    seed: parsePositiveOption('seed', values.seed),
    backend: values.backend,
  };
}

/** The first arms of the grid of weights, on top of the same candidates and signals. */
export function buildSweepConfig(settings: Settings, dataset: object, arms: number): ExperimentConfig {
  const grid = TRAJECTORY_WEIGHTS.flatMap((trajectory) =>
    ATTENTION_WEIGHTS.map((attention) => ({ trajectory, attention })),
  );
  const raw = {
    name: 'sweep',
    seed: settings.seed,
    backend: settings.backend,
    dataset,
    embedding: { encoder: 'lsa' },
    evaluation: { baseline: 'weights 1', limitQueries: settings.queries },
    arms: Object.fromEntries(
      grid
        .slice(0, arms)
        .map((weights, i) => [
          `weights ${i + 1}`,
          [
            search({ bm25: {}, hnsw: {}, newest: {} }),
            fuse({ convex: { hnsw: 0.8, bm25: 'rest' } }),
            decay(24),
            blend({ trajectory: weights.trajectory, unified: weights.attention }),
          ],
        ]),
    ),
  };
  return resolveConfig(raw, 'bench sweep');
}

/** Runs a config with an empty cache in a process of its own. */
async function runCold(config: ExperimentConfig): Promise<RunCost> {
  const cacheFolder = mkdtempSync(join(tmpdir(), 'ragpp-bench-sweep-'));
  try {
    return await runInChild<RunCost>('./sweep-child.ts', { config, cacheFolder } satisfies SweepTask);
  } finally {
    rmSync(cacheFolder, { recursive: true });
  }
}

/** Of a run: the seconds of some of its steps, all of them by default. */
function sumStepSeconds({ seconds, timings }: RunCost, ...steps: readonly string[]): number {
  if (steps.length === 0) return seconds;
  return timings.filter(({ stage }) => steps.includes(stage)).reduce((sum, timing) => sum + timing.seconds, 0);
}

function countExecutions({ stages }: Pick<RunCost, 'stages'>): number {
  return Object.values(stages).reduce((sum, { executed }) => sum + executed, 0);
}

function pickFastestRun(costs: readonly RunCost[]): RunCost {
  return costs.reduce((best, cost) => (cost.seconds < best.seconds ? cost : best));
}

/** The cost of one arm and of all arms, step by step, and their ratio. */
export function formatSweep(one: RunCost, all: RunCost): string {
  const time = (...steps: readonly string[]) => [sumStepSeconds(one, ...steps), sumStepSeconds(all, ...steps)] as const;
  const rows: [string, readonly [number, number], number][] = [
    ['seconds, whole run', time(), 2],
    ['  dataset and embedding', time('dataset', 'embedding'), 2],
    ['  arms', time('arms'), 2],
    ['  statistics', time('statistics'), 2],
    ['  remarks', time('remarks'), 2],
    ['processor seconds', [one.cpuSeconds, all.cpuSeconds], 2],
    ['stage executions', [countExecutions(one), countExecutions(all)], 0],
  ];
  const lines = rows.map(([name, [a, b], digits]) => {
    const ratio = `${(b / a).toFixed(2)}x`;
    return `${name.padEnd(26)}${a.toFixed(digits).padStart(9)}${b.toFixed(digits).padStart(10)}${ratio.padStart(9)}`;
  });
  const ratio = Math.max(all.seconds / one.seconds, countExecutions(all) / countExecutions(one));
  return [
    `${''.padEnd(26)}${'1 arm'.padStart(9)}${'24 arms'.padStart(10)}${'ratio'.padStart(9)}`,
    ...lines,
    `target at most ${TARGET}x in both: ${ratio <= TARGET ? 'kept' : 'missed'}`,
  ].join('\n');
}

/** Prints the table of the bench. */
export async function benchSweep(args: readonly string[]): Promise<void> {
  const settings = parseOptions(args);
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-bench-threads-'));
  try {
    if (settings.synthetic !== null) writeSyntheticThreads(folder, settings.synthetic, settings.seed);
    const dataset = settings.synthetic === null ? { name: 'spamassassin-threads' } : { name: 'jsonl', path: folder };
    const costs: Record<'one' | 'all', RunCost[]> = { one: [], all: [] };
    for (let repeat = 0; repeat < settings.repeats; repeat++) {
      costs.one.push(await runCold(buildSweepConfig(settings, dataset, 1)));
      costs.all.push(
        await runCold(buildSweepConfig(settings, dataset, TRAJECTORY_WEIGHTS.length * ATTENTION_WEIGHTS.length)),
      );
    }
    const [one, all] = [pickFastestRun(costs.one), pickFastestRun(costs.all)];
    console.log(
      `machine: ${cpus()[0]?.model ?? 'unknown'}, ${cpus().length} cores; node ${process.version}; backend ${one.backend}`,
    );
    const data = settings.synthetic === null ? 'the mail threads' : `about ${settings.synthetic} made-up turns`;
    const limit = settings.queries === null ? 'all queries' : `at most ${settings.queries} queries`;
    console.log(`data: ${data}, ${limit}, seed ${settings.seed}; the fastest of ${settings.repeats}, empty cache`);
    console.log(`\n${formatSweep(one, all)}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
