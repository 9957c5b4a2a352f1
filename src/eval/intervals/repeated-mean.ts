import { ValidationError } from '../../core/errors/errors.ts';
import { tCdf, tQuantile } from '../../core/numbers/distributions.ts';
import { type Clusters, estimateClusteredMean } from './mean-intervals.ts';

/** A mean over Q queries in G groups and S repetitions with different seeds, and its uncertainty. */
export interface RepeatedMean {
  readonly mean: number;
  /** Standard deviation of the S means; 0 for one repetition. */
  readonly seedDeviation: number;
  /** Standard error of the mean from both sources, conversations and seeds. */
  readonly error: number;
  /** Degrees of freedom of the t distribution, by Satterthwaite. */
  readonly freedom: number;
}

function computeMean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] as number;
  return sum / values.length;
}

/** Each query's mean over the repetitions. [Q] @param repetitions [S][Q] @throws ValidationError for none, or for different lengths. */
export function averageRepetitions(repetitions: readonly ArrayLike<number>[]): Float64Array {
  const [first] = repetitions;
  if (first === undefined || repetitions.some(({ length }) => length !== first.length))
    throw new ValidationError(
      `repetitions have different numbers of queries: ${repetitions.map(({ length }) => length).join(', ')}; repeat on the same queries`,
    );
  const mean = new Float64Array(first.length);
  for (const values of repetitions)
    for (let q = 0; q < mean.length; q++) mean[q]! += (values[q] as number) / repetitions.length;
  return mean;
}

/** The standard deviation of the repetitions' means; 0 for one. @param repetitions [S][Q] */
export function computeSeedDeviation(repetitions: readonly ArrayLike<number>[]): number {
  if (repetitions.length < 2) return 0;
  const means = repetitions.map(computeMean);
  const center = computeMean(means);
  return Math.sqrt(means.reduce((sum, one) => sum + (one - center) ** 2, 0) / (means.length - 1));
}

/**
 * The mean of values that were measured with several seeds. Its variance is the cluster-robust one of the queries' means over the seeds plus that of the
 * seeds' means over the queries, s^2 / S. The two parts share the variation of single queries between seeds, so the sum is not too small. With one repetition
 * it is the clustered mean.
 *
 * @param repetitions [S][Q], the same queries in each
 * @throws ValidationError for different numbers of queries or fewer than 2 groups. Sources: cameron2011multiway, satterthwaite1946variance.
 */
export function estimateRepeatedMean(repetitions: readonly ArrayLike<number>[], clusters: Clusters): RepeatedMean {
  const { mean, error, groups } = estimateClusteredMean(averageRepetitions(repetitions), clusters);
  const seeds = repetitions.length;
  if (seeds === 1) return { mean, seedDeviation: 0, error, freedom: groups - 1 };
  const seedDeviation = computeSeedDeviation(repetitions);
  const [fromQueries, fromSeeds] = [error ** 2, seedDeviation ** 2 / seeds];
  const total = fromQueries + fromSeeds;
  const freedom =
    total === 0 ? groups - 1 : total ** 2 / (fromQueries ** 2 / (groups - 1) + fromSeeds ** 2 / (seeds - 1));
  return { mean, seedDeviation, error: Math.sqrt(total), freedom };
}

/** The t interval of a {@link RepeatedMean}. */
export function computeRepeatedInterval({ mean, error, freedom }: RepeatedMean, level: number) {
  const reach = tQuantile((1 + level) / 2, freedom) * error;
  return { mean, low: mean - reach, high: mean + reach };
}

/** Two-sided p of the t test that a {@link RepeatedMean} is 0. With no error its limits: 1 for a mean of 0, else 0. */
export function testRepeatedMean({ mean, error, freedom }: RepeatedMean): number {
  if (error === 0) return mean === 0 ? 1 : 0;
  return 2 * tCdf(-Math.abs(mean) / error, freedom);
}
