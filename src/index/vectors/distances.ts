import { multiplyRows } from '../../core/tensors/rows.ts';
import type { Distance } from '../../model/vector-index.ts';

/** The score of a distance, rounded to float32, which is what is ranked. */
export function scoreDistance(metric: Distance, distance: number): number {
  if (metric === 'cosine') return Math.fround(1 - distance);
  return Math.fround(metric === 'l2' ? 1 / (1 + distance) : -distance);
}

/** 1 - cosine, kept within 0 … 2: the product of two rounded unit vectors may be a little more than 1. */
export function clampCosineDistance(distance: number): number {
  return Math.min(2, Math.max(0, distance));
}

/**
 * The distance of a query from a row, summed in float64. With cosine both are of length 1.
 *
 * @param rows row-major [N, D]
 * @param query [D]
 */
export function measureDistance(metric: Distance, rows: Float32Array, row: number, query: Float32Array): number {
  if (metric === 'l2') {
    const start = row * query.length;
    return Math.sqrt(query.reduce((squares, value, i) => squares + (rows[start + i]! - value) ** 2, 0));
  }
  const product = multiplyRows(rows, row, query, 0, query.length);
  return metric === 'cosine' ? clampCosineDistance(1 - product) : -product;
}
