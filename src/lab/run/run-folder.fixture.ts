import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';

/** A small invented run; every part can be replaced. */
export interface SampleRun {
  readonly experiment: string;
  readonly hash: string;
  readonly dataHash: string;
  readonly split: string;
  /** The time of its start; null if unknown. */
  readonly date: string | null;
  readonly seed: number;
  /** [Q] query ids, two of a cluster. */
  readonly queries: readonly string[];
  /** By arm, [Q] values of mrr@10; the first arm is the baseline. */
  readonly arms: Readonly<Record<string, readonly number[]>>;
  readonly config: Readonly<Record<string, unknown>>;
  readonly passports: Readonly<Record<string, unknown>>;
  /** By arm. */
  readonly tuned: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** By arm; of the null controls. */
  readonly controls: Readonly<Record<string, { readonly of: string; readonly kind: string }>>;
  /** By arm; the number of its seeds, of those with several. */
  readonly seeds: Readonly<Record<string, number>>;
}

export const SAMPLE_RUN: SampleRun = {
  experiment: 'ladder',
  hash: 'a1b2c3d4e5f6',
  dataHash: '0aaeb0ad6b7b1c65',
  split: 'test',
  date: '2026-01-31T23:59:59Z',
  seed: 7,
  queries: ['q1', 'q2', 'q3', 'q4', 'q5', 'q6'],
  arms: { bm25: [1, 0.5, 0, 0.25, 1, 0], cosine: [0.5, 0.5, 1, 0.25, 0.5, 0.5] },
  config: {
    name: 'ladder',
    seed: 7,
    arms: [
      { name: 'bm25', k: 10 },
      { name: 'cosine', k: 20 },
    ],
  },
  passports: {},
  tuned: {},
  controls: {},
  seeds: {},
};

/** Writes the small files of the run into a folder, which it makes. */
export function writeSampleRun(folder: string, run: SampleRun): void {
  mkdirSync(folder, { recursive: true });
  const write = (name: string, content: string) => writeFileSync(join(folder, name), content);
  const [baseline] = Object.keys(run.arms);
  write('config.yaml', stringify(run.config));
  write('environment.json', JSON.stringify(buildEnvironment(run)));
  write(
    'metrics.json',
    JSON.stringify({
      experiment: run.experiment,
      hash: run.hash,
      queries: run.queries.length,
      baseline,
      metrics: ['mrr@10'],
      passports: run.passports,
      arms: Object.entries(run.arms).map(([name, values]) => buildArmResult(name, values, name === baseline, run)),
      failures: [{ name: 'broken', code: 'NOT_FINITE', message: 'score is not finite: NaN' }],
      stopped: [{ name: 'hopeless', queries: 2, metric: 'mrr@10', mean: 0.25 }],
      dataset: { name: 'threads', split: run.split, hash: run.dataHash },
    }),
  );
  const lines = run.queries.flatMap((query, q) =>
    Object.entries(run.arms).map(([arm, values]) =>
      JSON.stringify({ query, cluster: `c${Math.floor(q / 2)}`, arm, 'mrr@10': values[q] }),
    ),
  );
  write('per-query.jsonl', `${lines.join('\n')}\n`);
}

function buildEnvironment({ seed, date }: SampleRun) {
  const machine = { cpu: 'Imaginary CPU', cores: 2 };
  const begun = date === null ? {} : { date };
  return {
    version: '0.1.0',
    commit: 'abcdef0',
    ...begun,
    backend: 'wasm',
    machine,
    seed,
    command: 'ragpp run ladder.yaml',
  };
}

function buildArmResult(
  name: string,
  values: readonly number[],
  isBaseline: boolean,
  { tuned, controls, seeds }: SampleRun,
) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const difference = { mean: mean - 0.4, low: mean - 0.6, high: mean - 0.2 };
  const count = seeds[name];
  const comparison = { difference, p: 0.02, correctedP: 0.04, verdict: 'better' };
  return {
    name,
    tuned: tuned[name] ?? {},
    levels: isBaseline ? null : { weight: '0.5' },
    control: controls[name] ?? null,
    metrics: { 'mrr@10': { mean, low: mean - 0.1, high: mean + 0.1 } },
    comparisons: isBaseline ? null : { 'mrr@10': comparison },
    holes: 3,
    ...(count === undefined ? {} : { seeds: { count, deviations: { 'mrr@10': 0.01 } } }),
  };
}
