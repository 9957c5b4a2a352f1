import { computeConservationMetrics } from '../../src/ops/conservation/conservation-metrics.ts';
import { formatLengthRange, groupByLength, type LengthGroup } from './length-groups.ts';
import { gatherMessageVectors, type MeasuredCorpus } from './measured-corpus.ts';
import type { Salience } from './salience.ts';

/** Conservation figures of conversations of about the same length, each as a memory of its own. */
export interface ThreadEnergy {
  readonly lengths: string;
  readonly conversations: number;
  /** Quantiles 0, .1, .5, .9 and 1. */
  readonly energy: readonly number[];
  /** Medians; information in nats. */
  readonly coherence: number;
  readonly information: number;
  readonly logCount: number;
  /** The greatest I - ln n, which is not above 0. */
  readonly excess: number;
}

const QUANTILES = [0, 0.1, 0.5, 0.9, 1];

/** With linear interpolation between the values next to it. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(at)] as number, sorted[Math.ceil(at)] as number];
  return low + (at - Math.floor(at)) * (high - low);
}

function measureGroupEnergy(measured: MeasuredCorpus, group: LengthGroup, salience: Salience): ThreadEnergy {
  const metrics = group.conversations.map((positions) =>
    computeConservationMetrics(gatherMessageVectors(measured, positions), Array.from(positions, salience.of)),
  );
  const median = (values: readonly number[]) => quantile(values, 0.5);
  const energies = metrics.map(({ energy }) => energy);
  return {
    lengths: formatLengthRange(group),
    conversations: metrics.length,
    energy: QUANTILES.map((share) => quantile(energies, share)),
    coherence: median(metrics.map(({ coherence }) => coherence)),
    information: median(metrics.map(({ information }) => information)),
    logCount: median(metrics.map(({ count }) => Math.log(count))),
    excess: metrics.reduce(
      (most, { information, count }) => Math.max(most, information - Math.log(count)),
      Number.NEGATIVE_INFINITY,
    ),
  };
}

/** Energy and information of every conversation by length, and of the corpus as one memory. */
export function measureThreadEnergies(measured: MeasuredCorpus, salience: Salience): ThreadEnergy[] {
  const size = measured.corpus.size;
  const whole = { least: size, most: size, conversations: [Int32Array.from({ length: size }, (_, i) => i)] };
  return [...groupByLength(measured.conversations), whole].map((group) =>
    measureGroupEnergy(measured, group, salience),
  );
}
