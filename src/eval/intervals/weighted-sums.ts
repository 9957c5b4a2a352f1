/** Columns that are summed together, so that each weight is loaded once for all of them and the additions do not wait for each other. */
const AT_ONCE = 8;

/** [G, 8] the columns from `first`, side by side; zeros beyond the last. */
function packColumns(columns: readonly Float64Array[], first: number, groups: number): Float64Array {
  const block = new Float64Array(groups * AT_ONCE);
  for (let k = 0; k < AT_ONCE; k++) {
    const column = columns[first + k];
    for (let g = 0; column !== undefined && g < groups; g++) block[g * AT_ONCE + k] = column[g] as number;
  }
  return block;
}

/** Eight sums of weight x value, each in the order of the groups. */
function sumBlock(weights: Float64Array, block: Float64Array, into: Float64Array): void {
  let [a, b, c, d, e, f, g, h] = [0, 0, 0, 0, 0, 0, 0, 0];
  for (let i = 0, at = 0; i < weights.length; i++, at += AT_ONCE) {
    const weight = weights[i] as number;
    a += weight * (block[at] as number);
    b += weight * (block[at + 1] as number);
    c += weight * (block[at + 2] as number);
    d += weight * (block[at + 3] as number);
    e += weight * (block[at + 4] as number);
    f += weight * (block[at + 5] as number);
    g += weight * (block[at + 6] as number);
    h += weight * (block[at + 7] as number);
  }
  into[0] = a;
  into[1] = b;
  into[2] = c;
  into[3] = d;
  into[4] = e;
  into[5] = f;
  into[6] = g;
  into[7] = h;
}

/**
 * Sums of weight x value over groups, for many columns and again and again with other weights, which is what resampling does: 10,000 resamples of 450 groups
 * for 1,200 columns are 5.4e9 products, in about 5 s. Each column is summed in the order of the groups, independent of the other columns.
 *
 * @param columns [G] each, all finite.
 * @returns a function of weights [G] that calls back with each column's sum.
 */
export function createWeightedSums(
  columns: readonly Float64Array[],
): (weights: Float64Array, take: (column: number, sum: number) => void) => void {
  const groups = columns[0]?.length ?? 0;
  const blocks = columns.flatMap((_, c) => (c % AT_ONCE === 0 ? [packColumns(columns, c, groups)] : []));
  const sums = new Float64Array(AT_ONCE);
  return (weights, take) => {
    for (const [i, block] of blocks.entries()) {
      sumBlock(weights, block, sums);
      const first = i * AT_ONCE;
      const count = Math.min(AT_ONCE, columns.length - first);
      for (let k = 0; k < count; k++) take(first + k, sums[k] as number);
    }
  };
}
