/**
 * The value at a share of the way through ordered values, between two of them in proportion (numpy's default).
 *
 * @param ascending at least one.
 * @param share 0 to 1.
 */
export function quantile(ascending: Float64Array, share: number): number {
  const itemIndex = share * (ascending.length - 1);
  const below = Math.floor(itemIndex);
  const low = ascending[below] as number;
  const high = ascending[Math.min(below + 1, ascending.length - 1)] as number;
  return Math.min(high, low + (itemIndex - below) * (high - low));
}
