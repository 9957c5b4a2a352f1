import {
  type Clusters,
  chooseIntervalMethod,
  type Estimate,
  meanIntervals,
} from '../../eval/intervals/mean-intervals.ts';
import {
  averageRepetitions,
  computeRepeatedInterval,
  computeSeedDeviation,
  estimateRepeatedMean,
} from '../../eval/intervals/repeated-mean.ts';
import type { Evaluation } from '../../eval/metrics/evaluate.ts';
import { readDirection } from '../../eval/metrics/metric.ts';
import {
  type BaselineComparison,
  type ComparisonOptions,
  compareRepeated,
  compareWithBaseline,
} from '../../eval/significance/significance.ts';
import type { SeedSpread } from './result.ts';

/** The evaluations of an arm that was run with one seed or several. */
export interface RepeatedEvaluation {
  /** Figures of the first seed, with the queries' means over all seeds as values. */
  readonly mean: Evaluation;
  /** By repetition, 0 for the first seed. A repetition that failed is missing. */
  readonly repetitions: ReadonlyMap<number, Evaluation>;
}

interface EstimateOptions extends ComparisonOptions {
  readonly samples: number;
  readonly level: number;
}

export function readMetricValues({ values }: Evaluation, metric: string): readonly number[] {
  return values[metric] as readonly number[];
}

export function indexByMetric<T>(metrics: readonly string[], valueAt: (m: number) => T): Record<string, T> {
  return Object.fromEntries(metrics.map((metric, m) => [metric, valueAt(m)]));
}

/** [S][Q] */
function listRepetitionValues({ repetitions }: RepeatedEvaluation, metric: string): (readonly number[])[] {
  return Array.from(repetitions.values(), (evaluation) => readMetricValues(evaluation, metric));
}

/** @param others of the other seeds, by repetition */
export function joinRepetitions(
  first: Evaluation,
  others: ReadonlyMap<number, Evaluation>,
  metrics: readonly string[],
): RepeatedEvaluation {
  const joined = { mean: first, repetitions: new Map([[0, first], ...others]) };
  if (others.size === 0) return joined;
  const values = indexByMetric(metrics, (m) => [
    ...averageRepetitions(listRepetitionValues(joined, metrics[m] as string)),
  ]);
  return { ...joined, mean: { ...first, values } };
}

function hasRepetitions(evaluations: readonly RepeatedEvaluation[]): boolean {
  return evaluations.some(({ repetitions }) => repetitions.size > 1);
}

/** Each arm's mean in one metric with its interval. */
export function estimateArmsIn(
  metric: string,
  evaluations: readonly RepeatedEvaluation[],
  clusters: Clusters,
  options: EstimateOptions,
): Estimate[] {
  const isTooSmall = chooseIntervalMethod(clusters.sizes.length) === 'none';
  if (isTooSmall || !hasRepetitions(evaluations))
    return meanIntervals(
      evaluations.map(({ mean }) => readMetricValues(mean, metric)),
      clusters,
      options,
    );
  return evaluations.map((evaluation) =>
    computeRepeatedInterval(estimateRepeatedMean(listRepetitionValues(evaluation, metric), clusters), options.level),
  );
}

/** The spread over the seeds; nothing for a single one. */
export function describeSeeds(evaluation: RepeatedEvaluation, metrics: readonly string[]): { seeds?: SeedSpread } {
  const { size: count } = evaluation.repetitions;
  if (count === 1) return {};
  const deviations = indexByMetric(metrics, (m) =>
    computeSeedDeviation(listRepetitionValues(evaluation, metrics[m] as string)),
  );
  return { seeds: { count, deviations } };
}

/** Values of an arm and of the baseline in the repetitions that both have; the first is one of them. */
function pairRepetitions(arm: RepeatedEvaluation, base: RepeatedEvaluation, metric: string) {
  return [...arm.repetitions].flatMap(([repetition, evaluation]) => {
    const other = base.repetitions.get(repetition);
    return other === undefined
      ? []
      : [[readMetricValues(evaluation, metric), readMetricValues(other, metric)] as const];
  });
}

/** Each arm's comparison with the baseline in one metric; null for the baseline, and for all if it is not among them. */
export function compareArmsIn(
  metric: string,
  evaluations: readonly RepeatedEvaluation[],
  baseline: number,
  clusters: Clusters,
  given: EstimateOptions,
): (BaselineComparison | null)[] {
  const options = { ...given, better: readDirection(metric) };
  const others = evaluations.filter((_, arm) => arm !== baseline);
  const base = evaluations[baseline];
  if (base === undefined || others.length === 0) return evaluations.map(() => null);
  const compared: (BaselineComparison | null)[] = hasRepetitions(evaluations)
    ? compareRepeated(
        others.map((arm) => pairRepetitions(arm, base, metric)),
        clusters,
        options,
      )
    : compareWithBaseline(
        others.map(({ mean }) => readMetricValues(mean, metric)),
        readMetricValues(base.mean, metric),
        clusters,
        options,
      );
  return compared.toSpliced(baseline, 0, null);
}
