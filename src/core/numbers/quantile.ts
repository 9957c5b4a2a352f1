/**
 * The value at a share of the way through ordered values, between two of them in proportion (numpy's default).
 *
 * @param count at least one.
 * @param read the value at a place from 0, ascending.
 * @param share 0 to 1.
 */
export function readQuantile(count: number, read: (place: number) => number, share: number): number {
  const itemIndex = share * (count - 1);
  const below = Math.floor(itemIndex);
  const low = read(below);
  const high = read(Math.min(below + 1, count - 1));
  return Math.min(high, low + (itemIndex - below) * (high - low));
}

/** {@link readQuantile} of values in a list. @param ascending at least one. */
export function quantile(ascending: Float64Array, share: number): number {
  return readQuantile(ascending.length, (place) => ascending[place] as number, share);
}
