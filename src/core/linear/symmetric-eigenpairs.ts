import { NotFiniteError } from '../errors/errors.ts';
import { countBytes, KernelRows } from './linear-kernel.ts';

/** The eigenpairs of a symmetric matrix. */
export interface SymmetricEigenpairs {
  /** [N], descending. */
  readonly values: Float64Array;
  /** Row-major [N, N]; row i is the eigenvector of value i, of length 1. */
  readonly vectors: Float64Array;
}

/**
 * All eigenpairs of a symmetric matrix: Householder reflections to tridiagonal form, then the implicit QL algorithm.
 * The operations on each number have the order of JAMA (Hicklin and others 2012), so the bits are those of
 * `EigenvalueDecomposition` of ml-matrix. Loops along rows, and rotations of eight columns, run in a kernel of
 * WebAssembly. O(N³).
 *
 * Bowdler, Martin, Reinsch, Wilkinson 1968, "The QR and QL algorithms for symmetric matrices" (procedures tred2, tql2).
 *
 * @param matrix row-major [N, N], with the same bits on both sides of the diagonal; N is at least 1.
 * @throws NotFiniteError for a matrix with NaN or infinity
 */
export function computeSymmetricEigenpairs(matrix: Float64Array, size: number): SymmetricEigenpairs {
  const unfit = matrix.findIndex((value) => !Number.isFinite(value));
  if (unfit >= 0)
    throw new NotFiniteError('symmetric matrix', `${Math.floor(unfit / size)}, ${unfit % size}`, matrix[unfit]!);
  const rows = new KernelRows(2 * size + 2 + PAIR_ROWS, size);
  for (let i = 0; i < size; i++) rows.view(i, size).set(matrix.subarray(i * size, (i + 1) * size));
  const tridiagonal = reduceToTridiagonal(rows, size);
  multiplyReflections(rows, size, tridiagonal.halves);
  diagonalise(tridiagonal, new Rotations(rows, size));
  return sortPairs(rows, tridiagonal.diagonal);
}

// Rows in the memory of the kernel: N of the matrix, later its eigenvectors; N of the product of the reflections; 2 to
// work with; those of rotations.

interface Tridiagonal {
  /** [N] */
  readonly diagonal: Float64Array;
  /** [N] what is left of the diagonal in each row; the first is 0. */
  readonly beside: Float64Array;
  /** [N] half the squared length of the vector of each reflection; 0 without a reflection. */
  readonly halves: Float64Array;
}

/** Leaves the vectors of the reflections in the rows of the matrix, left of the diagonal. */
function reduceToTridiagonal(rows: KernelRows, size: number): Tridiagonal {
  const { kernel, stride } = rows;
  const [beside, halves] = [new Float64Array(size), new Float64Array(size)];
  const product = rows.view(2 * size, size);
  for (let i = size - 1; i > 0; i--) {
    const vector = rows.view(i, i);
    const scale = vector.reduce((sum, value) => sum + Math.abs(value), 0);
    const last = vector[i - 1]!;
    beside[i] = last;
    if (scale === 0) continue;
    let h = 0;
    for (let k = 0; k < i; k++) {
      vector[k]! /= scale;
      h += vector[k]! * vector[k]!;
    }
    const f = vector[i - 1]!;
    const g = f > 0 ? -Math.sqrt(h) : Math.sqrt(h);
    beside[i] = scale * g;
    h -= f * g;
    vector[i - 1] = f - g;
    halves[i] = h;
    const [x, y, bytes] = [rows.place(i), rows.place(2 * size), countBytes(i)];
    product.fill(0);
    kernel.addRows(y, rows.place(0), stride, i, x, bytes);
    let sum = 0;
    for (let k = 0; k < i; k++) {
      product[k]! /= h;
      sum += product[k]! * vector[k]!;
    }
    const share = sum / (h + h);
    for (let k = 0; k < i; k++) product[k]! -= share * vector[k]!;
    kernel.subtractPair(rows.place(0), stride, i, x, y, bytes);
  }
  const diagonal = Float64Array.from({ length: size }, (_, i) => rows.view(i, i + 1)[i]!);
  return { diagonal, beside, halves };
}

/** Multiplies the reflections out, and writes the product transposed in the place of the matrix. */
function multiplyReflections(rows: KernelRows, size: number, halves: Float64Array): void {
  const { kernel, stride } = rows;
  const [work, sums] = [2 * size, 2 * size + 1];
  const factors = rows.view(work, size);
  for (let i = 0; i < size; i++) {
    const h = halves[i]!; // of the first row 0
    if (h !== 0) {
      const vector = rows.view(i, i);
      const bytes = countBytes(i);
      rows.view(sums, size).fill(0);
      kernel.addRows(rows.place(sums), rows.place(size), stride, i, rows.place(i), bytes);
      for (let k = 0; k < i; k++) factors[k] = -(vector[k]! / h);
      for (let k = 0; k < i; k++)
        kernel.addRows(rows.place(size + k), rows.place(sums), 0, 1, rows.place(work, k), bytes);
    }
    rows.view(size + i, size)[i] = 1;
  }
  for (let i = 0; i < size; i++) {
    const row = rows.view(size + i, size);
    for (let k = 0; k < size; k++) rows.view(k, size)[i] = row[k]!;
  }
}

/** Rows of room for rotations, which wait until they are full: a cache holds them beside eight columns of the matrix. */
const PAIR_ROWS = 64;

/** Rotations of rows of the matrix. */
class Rotations {
  readonly #rows: KernelRows;
  readonly #size: number;
  readonly #first: number;
  /** (c, s) of each. */
  readonly #pairs: Float64Array;
  #count = 0;
  /** The row that each sweep begins with, and its first pair. */
  #sweeps: { readonly row: number; readonly start: number }[] = [];

  constructor(rows: KernelRows, size: number) {
    this.#rows = rows;
    this.#size = size;
    this.#first = 2 * size + 2;
    this.#pairs = rows.view(this.#first, PAIR_ROWS * rows.width);
  }

  /** Begins a sweep from a row upwards. */
  begin(row: number): void {
    if (this.#count + row > this.#pairs.length / 2) this.apply();
    this.#sweeps.push({ row, start: this.#count });
  }

  /** Rotates the row of the sweep with the one above, which is the next to be rotated. */
  add(c: number, s: number): void {
    this.#pairs[2 * this.#count] = c;
    this.#pairs[2 * this.#count + 1] = s;
    this.#count++;
  }

  apply(): void {
    const { kernel, stride } = this.#rows;
    const place = (row: number, column: number) => this.#rows.place(row, column);
    for (let column = 0; column < this.#size; column += 8)
      for (const [i, { row, start }] of this.#sweeps.entries()) {
        const end = this.#sweeps[i + 1]?.start ?? this.#count;
        kernel.rotate(place(row, column), stride, place(this.#first, 2 * start), end - start);
      }
    this.#sweeps = [];
    this.#count = 0;
  }
}

/** Leaves the eigenvalues in the diagonal. */
function diagonalise({ diagonal: d, beside: e }: Tridiagonal, rotations: Rotations): void {
  const size = d.length;
  e.copyWithin(0, 1);
  e[size - 1] = 0;
  let shift = 0;
  let largest = 0;
  for (let l = 0; l < size; l++) {
    largest = Math.max(largest, Math.abs(d[l]!) + Math.abs(e[l]!));
    const negligible = Number.EPSILON * largest;
    let m = l;
    while (Math.abs(e[m]!) > negligible) m++;
    if (m > l)
      do {
        shift += sweep(d, e, l, m, rotations);
      } while (Math.abs(e[l]!) > negligible);
    d[l]! += shift;
    e[l] = 0;
  }
  rotations.apply();
}

/** One QL step on the block from `l` to `m`. @returns the shift, which the diagonal from `l` on has lost */
function sweep(d: Float64Array, e: Float64Array, l: number, m: number, rotations: Rotations): number {
  const g = d[l]!;
  const half = (d[l + 1]! - g) / (2 * e[l]!);
  const root = half < 0 ? -hypotenuse(half, 1) : hypotenuse(half, 1);
  d[l] = e[l]! / (half + root);
  d[l + 1] = e[l]! * (half + root);
  const next = d[l + 1]!;
  const shift = g - d[l]!;
  for (let i = l + 2; i < d.length; i++) d[i]! -= shift;
  const beside = e[l + 1]!;
  let p = d[m]!;
  let [c, c2, c3, s, s2] = [1, 1, 1, 0, 0];
  rotations.begin(m);
  for (let i = m - 1; i >= l; i--) {
    c3 = c2;
    c2 = c;
    s2 = s;
    const ce = c * e[i]!;
    const cp = c * p;
    const r = hypotenuse(p, e[i]!);
    e[i + 1] = s * r;
    s = e[i]! / r;
    c = p / r;
    p = c * d[i]! - s * ce;
    d[i + 1] = cp + s * (c * ce + s * d[i]!);
    rotations.add(c, s);
  }
  p = (-s * s2 * c3 * beside * e[l]!) / next;
  e[l] = s * p;
  d[l] = c * p;
  return shift;
}

/** The root of a² + b² without overflow. */
function hypotenuse(a: number, b: number): number {
  if (Math.abs(a) > Math.abs(b)) {
    const ratio = b / a;
    return Math.abs(a) * Math.sqrt(1 + ratio * ratio);
  }
  if (b === 0) return 0;
  const ratio = a / b;
  return Math.abs(b) * Math.sqrt(1 + ratio * ratio);
}

/** By the exchanges of JAMA, which decide the order of equal values; the last are the first. */
function sortPairs(rows: KernelRows, values: Float64Array): SymmetricEigenpairs {
  const size = values.length;
  const order = Array.from(values.keys());
  for (let i = 0; i < size - 1; i++) {
    let least = i;
    for (let j = i + 1; j < size; j++) if (values[order[j]!]! < values[order[least]!]!) least = j;
    [order[i], order[least]] = [order[least]!, order[i]!];
  }
  order.reverse();
  const vectors = new Float64Array(size * size);
  for (const [i, row] of order.entries()) vectors.set(rows.view(row, size), i * size);
  return { values: Float64Array.from(order, (row) => values[row]!), vectors };
}
