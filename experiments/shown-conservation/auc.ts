import { ValidationError } from '../../src/core/errors/errors.ts';
import { type Clusters, type Estimate, meanIntervals } from '../../src/eval/intervals/mean-intervals.ts';

/** Values with what they predict. */
interface Predictions {
  /** [Q] */
  readonly values: readonly number[];
  /** [Q] true for an answer that was found. */
  readonly hits: readonly boolean[];
}

/** The number of ascending numbers below a value; equal ones count half. */
function countBelow(ascending: Float64Array, value: number): number {
  const find = (isBefore: (other: number) => boolean) => {
    let [low, high] = [0, ascending.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(ascending[middle] as number)) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return (find((other) => other < value) + find((other) => other <= value)) / 2;
}

/**
 * [Q] numbers whose mean is the area under the ROC curve, the chance that a hit has a higher value than a miss. With
 * the placements v of delong1988comparing (the share of the other class below a hit, above a miss) these are
 * `AUC + Q / Q_own (v - AUC)`. The area is their mean to first order also where Q_own varies, so an interval of their
 * clustered mean is one of the area, as in obuchowski1997nonparametric. O(Q log Q).
 *
 * @throws ValidationError without a hit or without a miss.
 */
export function listAreaParts({ values, hits }: Predictions): Float64Array {
  const pick = (wanted: boolean) => Float64Array.from(values.filter((_, i) => hits[i] === wanted)).sort();
  const [found, missed] = [pick(true), pick(false)];
  if (found.length === 0 || missed.length === 0)
    throw new ValidationError(
      `area under a curve of ${found.length} hits and ${missed.length} misses; it needs at least one of each`,
    );
  const placements = values.map((value, i) =>
    hits[i] ? countBelow(missed, value) / missed.length : 1 - countBelow(found, value) / found.length,
  );
  const area = placements.reduce((sum, placement, i) => sum + (hits[i] ? placement : 0), 0) / found.length;
  return Float64Array.from(placements, (placement, i) => {
    const own = hits[i] ? found.length : missed.length;
    return area + (values.length / own) * (placement - area);
  });
}

/**
 * The area under the ROC curve with an interval clustered by conversation.
 *
 * @throws ValidationError as {@link listAreaParts}.
 */
export function estimateArea(
  predictions: Predictions,
  clusters: Clusters,
  statistics: { readonly samples: number; readonly level: number; readonly seed: number },
): Estimate {
  return meanIntervals([listAreaParts(predictions)], clusters, statistics)[0] as Estimate;
}
