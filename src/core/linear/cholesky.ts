import { countBytes, KernelRows } from './linear-kernel.ts';

/**
 * The inverse of R, where RᵀR = G + shift · I and R is upper triangular; the square of a pivot is at least the shift.
 * Each number is a sum from the left in float64, as in plain loops; a kernel of WebAssembly adds along rows.
 * 2/3 K³ operations.
 *
 * @param gram row-major [K, K]; the diagonal and what is below it are read.
 * @returns row-major [K, K], upper triangular
 */
export function invertCholesky(gram: Float32Array, size: number, shift: number): Float32Array {
  const rows = new KernelRows(2 * size + 1, size); // K of R, K of the inverse of Rᵀ, and one of factors
  factorise(rows, gram, size, shift);
  invertTransposed(rows, size);
  const inverse = new Float32Array(size * size);
  for (let i = 0; i < size; i++) {
    const row = rows.view(size + i, size);
    for (let unit = 0; unit <= i; unit++) inverse[unit * size + i] = row[unit]!;
  }
  return inverse;
}

/** Writes what is above the diagonal in a column of R as factors. @returns the place of the factors */
function writeFactors(rows: KernelRows, size: number, column: number, sign: 1 | -1): number {
  const factors = rows.view(2 * size, size);
  const numbers = rows.view(0, column * rows.width);
  for (let k = 0, at = column; k < column; k++, at += rows.width) factors[k] = sign * numbers[at]!;
  return rows.place(2 * size);
}

/** R, row by row. K³ / 3 operations. */
function factorise(rows: KernelRows, gram: Float32Array, size: number, shift: number): void {
  for (let j = 0; j < size; j++) {
    const row = rows.view(j, size);
    for (let i = j; i < size; i++) row[i] = gram[i * size + j]! + (i === j ? shift : 0);
    const first = j - (j % 4); // what lies before the diagonal is not read
    const factors = writeFactors(rows, size, j, -1);
    rows.kernel.addRows(rows.place(j, first), rows.place(0, first), rows.stride, j, factors, countBytes(size - first));
    const pivot = Math.sqrt(Math.max(row[j]!, shift));
    row[j] = pivot;
    for (let i = j + 1; i < size; i++) row[i]! /= pivot;
  }
}

/** The inverse of Rᵀ, by forward substitution for all unit vectors together. K³ / 3 operations. */
function invertTransposed(rows: KernelRows, size: number): void {
  for (let i = 0; i < size; i++) {
    const row = rows.view(size + i, size);
    const factors = writeFactors(rows, size, i, 1);
    rows.kernel.addRows(rows.place(size + i), rows.place(size), rows.stride, i, factors, countBytes(i));
    const pivot = rows.view(i, size)[i]!;
    for (let unit = 0; unit < i; unit++) row[unit] = -row[unit]! / pivot;
    row[i] = 1 / pivot;
  }
}
