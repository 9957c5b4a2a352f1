import type { Measurement, MeasurementOptions } from './measurement.ts';
import type { ArmResult, ExperimentResult } from './result.ts';

/** The facts of an arm besides its figures. */
type RankedArm = Pick<ArmResult, 'name' | 'description'> &
  Partial<Pick<ArmResult, 'options' | 'rankings' | 'contributionNames'>>;

/** Arms of which only the rankings are known, with their figures, in the order of the measurement. */
export function buildRankedArms<Q>(arms: readonly RankedArm[], measurement: Measurement<Q>): ArmResult[] {
  const { queries } = measurement;
  return arms.map(({ options = {}, rankings = queries.map(() => []), ...arm }, a) => ({
    ...arm,
    options,
    levels: null,
    tuned: {},
    ...(measurement.arms[a] as Measurement['arms'][number]),
    componentNames: [],
    rankings,
    attribution: {},
    losses: queries.map(() => ({})),
    latency: null,
  }));
}

/** The facts of a result besides its figures. */
type ResultFacts = Pick<
  ExperimentResult,
  'name' | 'hash' | 'description' | 'environment' | 'config' | 'dataset' | 'queries' | 'unanswerable' | 'arms'
> &
  Partial<Omit<ExperimentResult, 'metrics' | 'statistics' | 'baseline' | 'passports' | 'strata'>>;

/**
 * A result: the facts, and the figures of a measurement. Without facts of them nothing failed, was swept, or was timed.
 */
export function buildRankedResult<Q>(
  facts: ResultFacts,
  { passports, strata }: Measurement<Q>,
  options: MeasurementOptions,
): ExperimentResult {
  const { metrics, baseline, test = 'permutation', correction = 'holm', samples, level } = options;
  return {
    ...{ failures: [], stopped: [], sweep: null, stages: {}, remarks: [], armsAtOnce: 1, timings: [] },
    ...facts,
    metrics,
    statistics: { test, correction, samples, level },
    baseline,
    passports,
    strata,
  };
}
