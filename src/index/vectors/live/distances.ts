import type { Distance } from '../../../model/vector-index.ts';

/** The score of a distance, rounded to float32, which is what is ranked. */
export function scoreDistance(metric: Distance, distance: number): number {
  if (metric === 'cosine') return Math.fround(1 - distance);
  return Math.fround(metric === 'l2' ? 1 / (1 + distance) : -distance);
}

function multiplyRows(a: Float32Array, start: number, b: Float32Array): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  const whole = b.length - (b.length % 4);
  for (let i = 0; i < whole; i += 4) {
    s0 += a[start + i]! * b[i]!;
    s1 += a[start + i + 1]! * b[i + 1]!;
    s2 += a[start + i + 2]! * b[i + 2]!;
    s3 += a[start + i + 3]! * b[i + 3]!;
  }
  for (let i = whole; i < b.length; i++) s0 += a[start + i]! * b[i]!;
  return s0 + s1 + s2 + s3;
}

function addSquaredDifferences(a: Float32Array, start: number, b: Float32Array): number {
  let squares = 0;
  for (let i = 0; i < b.length; i++) squares += (a[start + i]! - b[i]!) ** 2;
  return squares;
}

/** 1 - cosine, kept within 0 … 2: the product of two rounded unit vectors may be a little more than 1. */
export function clampCosineDistance(distance: number): number {
  return Math.min(2, Math.max(0, distance));
}

/**
 * The distance of a query from the row that begins at `start`, summed in float64. With cosine both are of length 1.
 *
 * @param rows row-major [N, D]
 * @param query [D]
 */
export function measureDistance(metric: Distance, rows: Float32Array, start: number, query: Float32Array): number {
  if (metric === 'l2') return Math.sqrt(addSquaredDifferences(rows, start, query));
  const product = multiplyRows(rows, start, query);
  return metric === 'cosine' ? clampCosineDistance(1 - product) : -product;
}
