import { multiplyRows } from '../../core/tensors/rows.ts';

/** Squared length of each of the first `rows` rows of a row-major matrix. */
export function computeSquaredLengths(
  vectors: Float32Array | Float64Array,
  dimension: number,
  rows: number,
): Float64Array {
  return Float64Array.from({ length: rows }, (_, i) => multiplyRows(vectors, i, vectors, i, dimension));
}

/** The cosine that a product and the squared lengths of its factors give, clipped to [0, 1]; 0 when either factor is zero. */
export function clipCosine(product: number, squareA: number, squareB: number): number {
  const lengths = Math.sqrt(squareA) * Math.sqrt(squareB); // the product of the squares may underflow to 0
  return lengths === 0 ? 0 : Math.min(1, Math.max(0, product / lengths));
}

/**
 * Homogeneity of all turns at once: the cosine of each to its parent, clipped to [0, 1], 1 for a root (definition 4.1 of diomande2026ragpp). One product a turn
 * over one matrix, in float64 on the host, O(N D): on a device the parents' rows would have to be gathered, which costs wasm more than the products.
 *
 * @param vectors row-major [N, D] of any length; a zero vector has cosine 0 to everything
 * @param squares [N] of {@link computeSquaredLengths}
 * @param parents [N] rows of the parents, -1 for a root
 * @returns [N]
 */
export function computeHomogeneities(
  vectors: Float32Array | Float64Array,
  squares: Float64Array,
  dimension: number,
  parents: Int32Array,
): Float64Array {
  return Float64Array.from(parents, (parent, turn) => {
    if (parent < 0) return 1;
    const product = multiplyRows(vectors, turn, vectors, parent, dimension);
    return clipCosine(product, squares[turn] as number, squares[parent] as number);
  });
}
