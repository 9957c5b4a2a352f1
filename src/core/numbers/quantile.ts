/**
 * The value at a share of the way through ordered values, between two of them in proportion (numpy's default).
 *
 * @param count at least one.
 * @param read the value of a rank from 0, ascending.
 * @param share 0 to 1.
 */
export function readQuantile(count: number, read: (rank: number) => number, share: number): number {
  const rank = share * (count - 1);
  const below = Math.floor(rank);
  const low = read(below);
  const high = read(Math.min(below + 1, count - 1));
  return Math.min(high, low + (rank - below) * (high - low));
}

/** {@link readQuantile} of values in a list. @param ascending at least one. */
export function quantile(ascending: Float64Array, share: number): number {
  return readQuantile(ascending.length, (rank) => ascending[rank] as number, share);
}
