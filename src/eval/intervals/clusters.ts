import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { getOrCompute } from '../../core/values/once.ts';

/** Q queries in G groups whose members are not independent, such as the queries of one conversation. Groups are in order of first appearance. */
export interface Clusters {
  /** [Q] the group of each query. */
  readonly of: Int32Array;
  /** [G] queries in each group. */
  readonly sizes: Float64Array;
}

/** @param labels [Q] the group of each query by name. */
export function groupIntoClusters(labels: readonly string[]): Clusters {
  const indexes = new Map<string, number>();
  const of = Int32Array.from(labels, (label) => getOrCompute(indexes, label, () => indexes.size));
  const sizes = new Float64Array(indexes.size);
  for (const index of of) sizes[index] = (sizes[index] as number) + 1;
  return { of, sizes };
}

/** Every query a group of its own: for values that are independent. */
export function buildSingletonClusters(queries: number): Clusters {
  return { of: Int32Array.from({ length: queries }, (_, i) => i), sizes: new Float64Array(queries).fill(1) };
}

/**
 * @param values [Q]
 * @returns [G] the sum of each group.
 * @throws DimensionMismatchError, NotFiniteError naming the place, ValidationError when there is no value.
 */
export function sumByCluster(clusters: Clusters, values: ArrayLike<number>): Float64Array {
  if (values.length !== clusters.of.length)
    throw new DimensionMismatchError('values of clustered queries', clusters.of.length, values.length);
  if (values.length === 0) throw new ValidationError(`statistics of ${values.length} values; pass at least 1`);
  const sums = new Float64Array(clusters.sizes.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number;
    if (!Number.isFinite(value)) throw new NotFiniteError('value', `query ${i}`, value);
    const group = clusters.of[i] as number;
    sums[group] = (sums[group] as number) + value;
  }
  return sums;
}
