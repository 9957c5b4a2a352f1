import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import type { FeatureTable } from './feature-table.ts';

/** Candidates whose probability lies in [low, high), the last bin with its end. */
export interface ReliabilityBin {
  readonly low: number;
  readonly high: number;
  readonly count: number;
  /** Mean probability; null for an empty bin. */
  readonly predicted: number | null;
  /** Share that is relevant; null for an empty bin. */
  readonly observed: number | null;
}

/** How well predicted probabilities agree with observed relevance: a reliability diagram, and the expected calibration error in [0, 1]. */
export interface Calibration {
  readonly bins: readonly ReliabilityBin[];
  /** Expected calibration error: `sum_b count_b / count |predicted_b - observed_b|` (guo2017calibration). */
  readonly expectedError: number;
}

/**
 * Softmax of each row's scores over its candidates, in float64.
 *
 * @param scores row-major [Q, C]
 * @param temperature what scores are divided by, that of the loss
 * @returns row-major [Q, C], 0 where padded.
 */
export function computeRowProbabilities(
  { mask, width, queryIds }: FeatureTable,
  scores: ArrayLike<number>,
  temperature: number,
): Float64Array {
  if (scores.length !== mask.length)
    throw new DimensionMismatchError('scores of the feature table', mask.length, scores.length);
  if (!(temperature > 0))
    throw new ValidationError(`temperature of probabilities is not positive: ${temperature}; pass a number above 0`);
  const probabilities = new Float64Array(mask.length);
  for (let query = 0; query < queryIds.length; query++) {
    const end = (query + 1) * width;
    let most = Number.NEGATIVE_INFINITY;
    for (let pair = query * width; pair < end; pair++)
      if (mask[pair] === 1) most = Math.max(most, scores[pair] as number);
    let sum = 0;
    for (let pair = query * width; pair < end; pair++)
      if (mask[pair] === 1) sum += probabilities[pair] = Math.exp(((scores[pair] as number) - most) / temperature);
    for (let pair = query * width; pair < end; pair++)
      if (mask[pair] === 1) probabilities[pair] = probabilities[pair]! / sum;
  }
  return probabilities;
}

/**
 * How often candidates of a probability are relevant, in bins of equal width.
 *
 * @param probabilities row-major [Q, C]
 * @throws ValidationError for an invalid number of bins, or a table without candidates.
 */
export function measureCalibration(
  { mask, grades, relevantGrade }: Pick<FeatureTable, 'mask' | 'grades' | 'relevantGrade'>,
  probabilities: Float64Array,
  bins = 10,
): Calibration {
  if (!Number.isInteger(bins) || bins < 1)
    throw new ValidationError(`bins is not an integer from 1: ${bins}; pass a number such as 15`);
  const count = new Float64Array(bins);
  const predicted = new Float64Array(bins);
  const observed = new Float64Array(bins);
  for (let pair = 0; pair < mask.length; pair++) {
    if (mask[pair] === 0) continue;
    const bin = Math.min(bins - 1, Math.floor(probabilities[pair]! * bins));
    count[bin] = count[bin]! + 1;
    predicted[bin] = predicted[bin]! + probabilities[pair]!;
    if (grades[pair]! >= relevantGrade) observed[bin] = observed[bin]! + 1;
  }
  const total = count.reduce((sum, number) => sum + number, 0);
  if (total === 0) throw new ValidationError('calibration of 0 candidates; pass a table with candidates');
  const mean = (sums: Float64Array, bin: number) => (count[bin] === 0 ? null : sums[bin]! / count[bin]!);
  return {
    bins: Array.from(count, (number, bin) => {
      const edges = { low: bin / bins, high: (bin + 1) / bins, count: number };
      return { ...edges, predicted: mean(predicted, bin), observed: mean(observed, bin) };
    }),
    expectedError: predicted.reduce((sum, value, bin) => sum + Math.abs(value - observed[bin]!), 0) / total,
  };
}
