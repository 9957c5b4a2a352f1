/** How many values fall between edges. */
export interface Histogram {
  /** [bins] */
  readonly counts: readonly number[];
  /** [bins + 1] in ascending order. */
  readonly edges: readonly number[];
}

/** numpy's linspace: `bins + 1` edges at equal steps, the last one exact. */
function listEdges(low: number, high: number, bins: number): number[] {
  const range = high - low;
  const step = range / bins;
  const computeEdge = (i: number) => (step === 0 ? (i / bins) * range : i * step) + low;
  return Array.from({ length: bins + 1 }, (_, i) => (i === bins ? high : Math.min(high, computeEdge(i))));
}

/** The last bin that begins at or below the value; the last bin holds its upper edge too. */
function findBin(edges: readonly number[], value: number): number {
  let bin = edges.length - 2;
  while (bin > 0 && value < (edges[bin] as number)) bin--;
  return bin;
}

/**
 * Values in bins of equal width from the least to the greatest one, as numpy's histogram: a bin holds its lower edge, the last bin both. Values that are all
 * equal get a range of 0.5 to both sides. Every value is in one bin.
 *
 * @param values at least one, all finite.
 * @param times how often each value counts; null: once.
 */
export function computeHistogram(
  values: ArrayLike<number>,
  bins = 10,
  times: ArrayLike<number> | null = null,
): Histogram {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < values.length; i++) {
    low = Math.min(low, values[i] as number);
    high = Math.max(high, values[i] as number);
  }
  const edges = low === high ? listEdges(low - 0.5, high + 0.5, bins) : listEdges(low, high, bins);
  const counts = new Array<number>(bins).fill(0);
  for (let i = 0; i < values.length; i++) {
    const bin = findBin(edges, values[i] as number);
    counts[bin] = (counts[bin] as number) + (times === null ? 1 : (times[i] as number));
  }
  return { counts, edges };
}
