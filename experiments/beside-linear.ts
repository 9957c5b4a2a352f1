import { type Estimate, groupIntoClusters, meanIntervals } from '../src/eval/intervals/mean-intervals.ts';
import { estimate, formatDecimal, formatSigned } from '../src/lab/report/tables/format.ts';
import type { FeatureTable } from '../src/rank/learning/feature-table.ts';
import { createTableMetric } from '../src/rank/learning/fit-options.ts';
import { standardiseQuestions } from '../src/rank/signals/bank/normalisation.ts';
import { formatPipeTable } from './text-table.ts';

/** The rows that a fold holds out, and their scores by each system, row-major [rows, C]; one is called `linear`. */
export interface FoldScores {
  readonly held: FeatureTable;
  readonly scores: ReadonlyMap<string, Float32Array>;
}

/** Standardises scores over the candidates of each question. @param scores row-major [Q, C] */
const standardiseScores = ({ width, mask }: FeatureTable, scores: Float32Array) =>
  standardiseQuestions({ values: scores, stride: 1, columns: [0], width, mask });

/** Sums of standardised scores with shares of the second, by name. */
export function blendScores(
  held: FeatureTable,
  linear: Float32Array,
  other: readonly [name: string, scores: Float32Array],
  shares: readonly number[],
): (readonly [string, Float32Array])[] {
  const [a, b] = [standardiseScores(held, linear), standardiseScores(held, other[1])];
  return shares.map(
    (share) => [`linear + ${share} ${other[0]}`, a.map((score, pair) => score + share * b[pair]!)] as const,
  );
}

/** A system's means, and its differences from `linear` with the folds in which it is better. */
export interface SystemFigures {
  readonly name: string;
  readonly means: readonly Estimate[];
  readonly differences: readonly (Estimate & { readonly better: number })[];
}

/** Measures each system on the rows that the folds hold out, and beside the system `linear`. */
export function measureSystems(
  folds: readonly FoldScores[],
  metrics: readonly string[],
  seed: number,
): SystemFigures[] {
  const clusters = groupIntoClusters(folds.flatMap(({ held }) => held.clusters));
  const measure = (name: string, metric: string) =>
    folds.map(({ held, scores }) => [...createTableMetric(held, metric).values(scores.get(name) as Float32Array)]);
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const summarise = (columns: readonly (readonly number[])[]) =>
    meanIntervals(
      columns.map((column) => Float64Array.from(column)),
      clusters,
      { samples: 10_000, level: 0.95, seed },
    );
  const [first = new Map()] = folds.map(({ scores }) => scores);
  return [...first.keys()].map((name) => {
    const own = metrics.map((metric) => measure(name, metric));
    const beside = metrics.map((metric) => measure('linear', metric));
    const differences = own.map((byFold, m) =>
      byFold.map((values, fold) => values.map((value, q) => value - (beside[m]?.[fold]?.[q] as number))),
    );
    const intervals = summarise(differences.map((byFold) => byFold.flat()));
    return {
      name,
      means: summarise(own.map((byFold) => byFold.flat())),
      differences: intervals.map((interval, m) => ({
        ...interval,
        better: (differences[m] ?? []).filter((values) => mean(values) > 0).length,
      })),
    };
  });
}

/** The means of systems, and their differences from `linear`. */
export function formatSystems(systems: readonly SystemFigures[], metrics: readonly string[], folds: number): string {
  const rows = systems.map(({ name, means, differences }) => [
    name,
    ...means.map((one) => estimate(one, formatDecimal, 2)),
    ...(name === 'linear'
      ? metrics.map(() => '')
      : differences.map((one) => `${estimate(one, formatSigned, 2)}, ${one.better} of ${folds}`)),
  ]);
  const head = ['system', ...metrics, ...metrics.map((metric) => `${metric}, minus linear`)];
  return formatPipeTable({ head, rows });
}
