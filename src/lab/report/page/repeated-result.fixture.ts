import type { ExperimentResult } from '../../measure/result.ts';

/** A result whose arms were run with three seeds: the first one the same with each, the others not. */
export function withSeeds(result: ExperimentResult): ExperimentResult {
  const arms = result.arms.map((arm, at) => ({
    ...arm,
    seeds: { count: 3, deviations: Object.fromEntries(result.metrics.map((metric) => [metric, 0.0123 * at])) },
  }));
  return { ...result, arms };
}

/** A result with a further metric of the same figures as its first. */
export function withOneMetricMore(result: ExperimentResult): ExperimentResult {
  const [first = ''] = result.metrics;
  const extend = <T>(values: Readonly<Record<string, T>>) => ({ ...values, 'hit@10': values[first] as T });
  const arms = result.arms.map((arm) => ({
    ...arm,
    metrics: extend(arm.metrics),
    comparisons: arm.comparisons && extend(arm.comparisons),
    perQuery: extend(arm.perQuery),
  }));
  return { ...result, metrics: [...result.metrics, 'hit@10'], arms };
}
