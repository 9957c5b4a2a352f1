import { DimensionMismatchError } from './errors.ts';

/** Width of a row-major matrix of `count` rows, 0 when there is none. */
export function rowWidth(what: string, matrix: Float32Array, count: number): number {
  const width = count === 0 ? 0 : matrix.length / count;
  if (!Number.isInteger(width))
    throw new DimensionMismatchError(what, `${count} rows of one width`, `${matrix.length} numbers`);
  return width;
}

/** A view of one row of a row-major matrix. */
export function rowOf(matrix: Float32Array, width: number, row: number): Float32Array {
  return matrix.subarray(row * width, (row + 1) * width);
}

/** Copies chosen rows of a row-major matrix, in the order given. */
export function gatherRows(matrix: Float32Array, width: number, rows: ArrayLike<number>): Float32Array {
  const gathered = new Float32Array(rows.length * width);
  for (let i = 0; i < rows.length; i++) gathered.set(rowOf(matrix, width, rows[i] as number), i * width);
  return gathered;
}
