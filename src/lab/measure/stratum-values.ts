import {
  type ClusteredMean,
  clusteredTInterval,
  clusteredTTest,
  estimateClusteredMean,
} from '../../eval/intervals/cluster-robust.ts';
import { groupIntoClusters } from '../../eval/intervals/clusters.ts';
import { LEAST_CLUSTERS } from '../../eval/intervals/mean-intervals.ts';
import { computePairedDifferences } from '../../eval/significance/paired-differences.ts';
import { confirmByFlips } from '../../eval/significance/smallest-p.ts';
import { CORRECTIONS, type CorrectionName } from '../../eval/significance/test-names.ts';
import type { Stratum, StratumValue } from './result.ts';

/** A level with fewer conversations is not tested. */
const LEAST_TESTED = 5;

interface StratumOptions {
  readonly metrics: readonly string[];
  /** Index of the baseline among the arms; -1 if it is not among them. */
  readonly baseline: number;
  readonly level: number;
  /** Over the levels of a stratum and the arms. */
  readonly correction: CorrectionName;
}

/** By metric, a value a query. */
type PerQuery = Readonly<Record<string, readonly number[]>>;
/** By stratum, level and metric. */
export type StratumValues = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, StratumValue>>>>>>;

interface Uncorrected {
  readonly mean: number;
  /** Null for the baseline, without a baseline, and with one or two conversations. */
  readonly difference: ClusteredMean | null;
  /** Null if the level has too few conversations for a test. */
  readonly p: number | null;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** One metric of each arm on some of the queries. */
function measureLevel(
  columns: readonly (readonly number[])[],
  queryIndexes: readonly number[],
  labels: readonly string[],
  baseline: number,
): Uncorrected[] {
  const clusters = groupIntoClusters(queryIndexes.map((queryIndex) => labels[queryIndex] as string));
  const held = columns.map((column) => queryIndexes.map((queryIndex) => column[queryIndex] as number));
  const base = held[baseline] as readonly number[];
  return held.map((values, arm) => {
    if (baseline < 0 || arm === baseline || clusters.sizes.length < LEAST_CLUSTERS)
      return { mean: mean(values), difference: null, p: null };
    const gains = computePairedDifferences(values, base);
    const difference = estimateClusteredMean(gains, clusters);
    const isTested = difference.groups >= LEAST_TESTED;
    return {
      mean: mean(values),
      difference,
      p: isTested ? confirmByFlips(clusteredTTest(difference), gains, clusters) : null,
    };
  });
}

/** Corrected p and intervals for [levels, arms] of one metric, corrected together. */
function correctStrata(
  table: readonly (readonly Uncorrected[])[],
  { level, correction }: StratumOptions,
): readonly (readonly StratumValue[])[] {
  const ps = table.flatMap((row) => row.map(({ p }) => p));
  const corrected = CORRECTIONS[correction](ps.filter((p) => p !== null)).values();
  const correctedPs = ps.map((p) => (p === null ? null : (corrected.next().value as number)));
  return table.map((row, l) =>
    row.map(({ mean, difference, p }, arm) => ({
      mean,
      difference: difference && clusteredTInterval(difference, level),
      p,
      correctedP: correctedPs[l * row.length + arm] as number | null,
    })),
  );
}

/**
 * Means of each arm within each level, and differences from the baseline with cluster-robust t intervals and tests. The t test is used whatever test the
 * table's is: a correction over all levels and arms multiplies p by hundreds, and a test by resampling has no p below 1
 * / (samples + 1). Of a level with few conversations it is confirmed by the sign-flip test, which tries every sign
 * vector there.
 *
 * @param arms values of each arm.
 * @param labels [Q] the cluster of each query.
 * @returns values by stratum, level and metric, an arm each.
 */
export function computeStratumValues(
  strata: readonly Stratum[],
  arms: readonly PerQuery[],
  labels: readonly string[],
  options: StratumOptions,
): StratumValues[] {
  const values: Record<string, Record<string, Record<string, StratumValue>>>[] = arms.map(() => ({}));
  for (const { name, levels } of strata) {
    for (const held of values) held[name] = Object.fromEntries(levels.map((level) => [level.name, {}]));
    for (const metric of options.metrics) {
      const columns = arms.map((arm) => arm[metric] as readonly number[]);
      const uncorrected = levels.map(({ queries }) => measureLevel(columns, queries, labels, options.baseline));
      const table = correctStrata(uncorrected, options);
      for (const [l, level] of levels.entries())
        for (const [arm, held] of values.entries())
          (held[name]?.[level.name] as Record<string, StratumValue>)[metric] = table[l]?.[arm] as StratumValue;
    }
  }
  return values;
}
