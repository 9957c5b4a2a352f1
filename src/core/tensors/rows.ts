import type { Tensor } from '@tensorflow/tfjs-core';
import { DimensionMismatchError } from '../errors/errors.ts';

/** Sizes bound so far: B queries, C candidates, N corpus, D dimension, T turns, V nodes, E edges, K kept. */
export type Sizes = Record<string, number>;

/**
 * Checks a tensor's shape against named sizes, for example `assertShape('keys', keys, 'T D', sizes)`, and binds the
 * names it meets for the first time. A number in the pattern stands for itself.
 *
 * @throws DimensionMismatchError that prints the bindings.
 */
export function assertShape(name: string, tensor: Pick<Tensor, 'shape'>, pattern: string, sizes: Sizes = {}): Sizes {
  const letters = pattern === '' ? [] : pattern.split(' ');
  const fits =
    letters.length === tensor.shape.length &&
    letters.every((letter, axis) => {
      const size = tensor.shape[axis] as number;
      const known = /^\d+$/.test(letter) ? Number(letter) : sizes[letter];
      if (known === undefined) sizes[letter] = size;
      return known === undefined || known === size;
    });
  if (!fits) {
    const bindings = Object.entries(sizes).map(([letter, size]) => `${letter}=${size}`);
    throw new DimensionMismatchError(
      `shape of ${name}`,
      `[${letters.join(', ')}]${bindings.length > 0 ? ` with ${bindings.join(', ')}` : ''}`,
      `[${tensor.shape.join(', ')}]`,
    );
  }
  return sizes;
}

/** Width of a row-major matrix of `count` rows, 0 without rows. */
export function computeRowWidth(what: string, matrix: Float32Array, count: number): number {
  const width = count === 0 ? 0 : matrix.length / count;
  if (!Number.isInteger(width))
    throw new DimensionMismatchError(what, `${count} rows of one width`, `${matrix.length} numbers`);
  return width;
}

/** A view of one row of a row-major matrix. */
export function viewRow(matrix: Float32Array, width: number, row: number): Float32Array {
  return matrix.subarray(row * width, (row + 1) * width);
}

/** @param matrix row-major [rows, width] @returns row-major [width, rows] */
export function transposeRows(matrix: Float32Array, width: number): Float32Array {
  const rows = matrix.length / width;
  const transposed = new Float32Array(matrix.length);
  for (let r = 0; r < rows; r++)
    for (let c = 0; c < width; c++) transposed[c * rows + r] = matrix[r * width + c] as number;
  return transposed;
}

/** Copies chosen rows of a row-major matrix, in the order given. */
export function gatherRows(matrix: Float32Array, width: number, rows: ArrayLike<number>): Float32Array {
  const gathered = new Float32Array(rows.length * width);
  for (let i = 0; i < rows.length; i++) gathered.set(viewRow(matrix, width, rows[i] as number), i * width);
  return gathered;
}

/**
 * Puts rows of a row-major matrix in their places of a larger one; the other rows are zero.
 *
 * @param positions of each row, in the order of the rows.
 */
export function spreadRows(
  matrix: Float32Array,
  width: number,
  positions: Iterable<number>,
  count: number,
): Float32Array {
  const spread = new Float32Array(count * width);
  let row = 0;
  for (const position of positions) spread.set(viewRow(matrix, width, row++), position * width);
  return spread;
}

/**
 * Finds equal rows of a table of two columns, by a table of hashes with open addresses.
 *
 * @param a [n] of the first column, and `b` [n] of the second.
 * @returns [n] the first row that is equal to each; its own number where no earlier one is.
 */
export function findFirstRows(a: Int32Array, b: Int32Array): Int32Array {
  const firsts = new Int32Array(a.length);
  const mask = 2 ** Math.ceil(Math.log2(2 * a.length + 1)) - 1;
  const known = new Int32Array(mask + 1); // counted from 1
  for (let row = 0; row < a.length; row++) {
    let at = ((a[row] as number) + Math.imul(b[row] as number, 0x9e3779b1)) & mask;
    let first = known[at] as number;
    while (first !== 0 && (a[first - 1] !== a[row] || b[first - 1] !== b[row])) {
      at = (at + 1) & mask;
      first = known[at] as number;
    }
    if (first === 0) known[at] = first = row + 1;
    firsts[row] = first - 1;
  }
  return firsts;
}

/** Product of row `i` of one row-major matrix with row `j` of another, in float64; in four sums that do not wait for each other. */
export function multiplyRows(
  a: Float32Array | Float64Array,
  i: number,
  b: Float32Array | Float64Array,
  j: number,
  width: number,
): number {
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  let left = i * width;
  let right = j * width;
  const whole = left + width - (width % 4);
  for (; left < whole; left += 4, right += 4) {
    first += (a[left] as number) * (b[right] as number);
    second += (a[left + 1] as number) * (b[right + 1] as number);
    third += (a[left + 2] as number) * (b[right + 2] as number);
    fourth += (a[left + 3] as number) * (b[right + 3] as number);
  }
  for (const end = (i + 1) * width; left < end; left++, right++) first += (a[left] as number) * (b[right] as number);
  return first + second + (third + fourth);
}
