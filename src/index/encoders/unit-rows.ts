/**
 * Scales each row of [N, D] to length 1, in float64 sums; a zero row stays zero.
 *
 * @param tolerance rows whose squared length differs from 1 by no more keep their bits.
 */
export function scaleRowsToUnit(rows: Float32Array, dimension: number, tolerance = 0): void {
  for (let start = 0; start < rows.length; start += dimension) {
    let squares = 0;
    for (let i = start; i < start + dimension; i++) squares += rows[i]! ** 2;
    if (squares === 0 || Math.abs(squares - 1) <= tolerance) continue;
    const factor = 1 / Math.sqrt(squares);
    for (let i = start; i < start + dimension; i++) rows[i]! *= factor;
  }
}

/** Keeps the first components of each row of [N, D]: the vector of fewer dimensions of a Matryoshka model, not scaled. */
export function truncateRows(rows: Float32Array, dimension: number, kept: number): Float32Array {
  const truncated = new Float32Array((rows.length / dimension) * kept);
  for (let from = 0, to = 0; from < rows.length; from += dimension, to += kept)
    truncated.set(rows.subarray(from, from + kept), to);
  return truncated;
}
