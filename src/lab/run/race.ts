import type { Interval } from '../../eval/intervals/bootstrap-interval.ts';
import {
  type ClusteredMean,
  clusteredTInterval,
  clusteredTTest,
  estimateClusteredMean,
} from '../../eval/intervals/cluster-robust.ts';
import { groupIntoClusters } from '../../eval/intervals/clusters.ts';
import { holm } from '../../eval/significance/multiple-comparisons.ts';
import { computePairedDifferences } from '../../eval/significance/paired-differences.ts';
import { confirmByFlips } from '../../eval/significance/smallest-p.ts';
import { isSignificant } from '../../eval/significance/verdict.ts';

/** A round with fewer conversations stops no arm. */
export const LEAST_CLUSTERS = 12;

export interface RaceOptions {
  readonly confidence: number;
  /** The number of rounds; the last one stops no arm. */
  readonly rounds: number;
}

/** An arm that a round shows to be worse than the round's best. */
export interface Dropout {
  /** Place among the round's arms. */
  readonly arm: number;
  readonly mean: number;
  /** The arm minus the best one. */
  readonly difference: Interval;
  /** Corrected over the round's arms and over the rounds. */
  readonly p: number;
}

/** The shares of the conversations that each round is about: twice as many a round, all in the last. */
export function raceShares(rounds: number): number[] {
  return Array.from({ length: rounds }, (_, round) => 2 ** (round - rounds + 1));
}

/** The first arm of the highest mean. */
function findBestMean(means: readonly number[]): number {
  return means.indexOf(Math.max(...means));
}

/**
 * Which arms a round stops: those whose paired clustered t test against the best arm of the round says worse, with few
 * conversations also their signs, corrected by Holm over the arms and by Bonferroni over the rounds that can stop one.
 * An arm that is as good as the best is stopped in the whole race with a chance below 1 - confidence, by simulation.
 * This holds for one arm, not for all: the chance that some of many good arms is stopped is higher.
 *
 * @param arms values of one metric for the round's queries, [Q] each.
 * @param labels [Q] the conversation of each query.
 * @param kept places of the arms that are never stopped, such as the baseline.
 */
export function findDropouts(
  arms: readonly (readonly number[])[],
  labels: readonly string[],
  { confidence, rounds }: RaceOptions,
  kept: ReadonlySet<number> = new Set(),
): Dropout[] {
  const clusters = groupIntoClusters(labels);
  if (clusters.sizes.length < LEAST_CLUSTERS || arms.length < 2) return [];
  const means = arms.map((values) => values.reduce((sum, value) => sum + value, 0) / values.length);
  const best = findBestMean(means);
  const others = arms.flatMap((_, arm) => (arm === best ? [] : [arm]));
  const columns = others.map((arm) =>
    computePairedDifferences(arms[arm] as readonly number[], arms[best] as readonly number[]),
  );
  const differences = columns.map((column) => estimateClusteredMean(column, clusters));
  const ps = columns.map((column, i) =>
    confirmByFlips(clusteredTTest(differences[i] as ClusteredMean), column, clusters),
  );
  const corrected = holm(ps).map((p) => Math.min(1, p * (rounds - 1)));
  return others.flatMap((arm, armIndex) => {
    const p = corrected[armIndex] as number;
    if (kept.has(arm) || !isSignificant(p, confidence)) return [];
    const difference = clusteredTInterval(differences[armIndex] as ClusteredMean, confidence);
    return [{ arm, mean: means[arm] as number, difference, p }];
  });
}
