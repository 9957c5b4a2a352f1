import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { stringify } from 'yaml';
import { StorageError } from '../core/errors.ts';
import { formatQrels, formatRun } from '../evaluation/trec-files.ts';
import type { Qrels, Run } from '../model/run.ts';
import { fileName } from './arms.ts';
import type { ArmResult, ExperimentResult } from './result.ts';

/** What a run leaves, file by file: relative path -> text. */
export type RunFiles = Readonly<Record<string, string>>;

function perQueryLines(result: ExperimentResult): string {
  const lines = result.queries.flatMap((query, q) =>
    result.arms.map((arm) => {
      const values = Object.fromEntries(result.metrics.map((metric) => [metric, arm.perQuery[metric]?.[q]]));
      return JSON.stringify({ query: query.id, cluster: query.cluster, arm: arm.name, ...values });
    }),
  );
  return `${lines.join('\n')}\n`;
}

function metricsOf(result: ExperimentResult): string {
  const arms = result.arms.map(({ name, tuned, metrics, comparisons, holes }: ArmResult) => ({
    name,
    tuned,
    metrics,
    comparisons,
    holes,
  }));
  const { name, hash, baseline, metrics, dataset, remarks } = result;
  const { turns: _, ...summary } = dataset;
  return `${JSON.stringify({ experiment: name, hash, queries: result.queries.length, baseline, metrics, arms, dataset: summary, remarks }, null, 2)}\n`;
}

/** @param runs each arm's ranking, by the arm's name. */
export function runFiles(result: ExperimentResult, runs: ReadonlyMap<string, Run>, qrels: Qrels): RunFiles {
  const trec = [...runs].map(([name, run]) => [`runs/${fileName(name)}.trec`, formatRun(run, fileName(name))]);
  return {
    'config.yaml': stringify(result.config),
    'environment.json': `${JSON.stringify({ ...result.environment, timings: result.timings }, null, 2)}\n`,
    'metrics.json': metricsOf(result),
    'per-query.jsonl': perQueryLines(result),
    'qrels.trec': formatQrels(qrels),
    ...Object.fromEntries(trec),
  };
}

/**
 * Puts a run's files in place as a whole: they are written beside the folder, which is then swapped in, so that an interruption leaves the earlier run or none.
 *
 * @throws StorageError naming the folder.
 */
export function writeRunFolder(folder: string, files: RunFiles): void {
  const fresh = `${folder}.writing-${process.pid}`;
  const stale = `${folder}.replaced-${process.pid}`;
  try {
    for (const [path, text] of Object.entries(files)) {
      const target = join(fresh, path);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, text);
    }
    if (existsSync(folder)) renameSync(folder, stale);
    renameSync(fresh, folder);
  } catch (error) {
    if (existsSync(stale) && !existsSync(folder)) renameSync(stale, folder);
    throw new StorageError('write the run folder', folder, { cause: error });
  } finally {
    for (const leftover of [fresh, stale]) if (existsSync(leftover)) rmSync(leftover, { recursive: true });
  }
}
