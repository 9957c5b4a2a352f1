import { createEventBreaks } from '../terminal/progress.ts';
import { once } from '../values/once.ts';
import type { SparseMatrix } from './sparse-matrix.ts';

/** `sparse-product.wat` as bytes; a test compares them. */
const KERNEL =
  'AGFzbQEAAAABCwFgB39/f39/f38AAhABBGhvc3QGbWVtb3J5AgABAwIBAAcMAQhtdWx0aXBseQAACqAEAZ0EAgp/BHsgACABQQJ0aiEJAkADQCAAIAlPDQEgACgCACEHIAAoAgQhCCAAQQRqIQAgAiAHQQJ0aiEKIAMgB0EDdGohCyAFIAZqIQwCQANAIAggB2tBBEkNASAEIAooAgAgBmxqIQ0gBCAKKAIEIAZsaiEOIAQgCigCCCAGbGohDyAEIAooAgwgBmxqIRAgC/0KAwAhESAL/QoDCCESIAv9CgMQIRMgC/0KAxghFCAHQQRqIQcgCkEQaiEKIAtBIGohCwNAIAUgBf1dAwD9XyARIA39XQMA/V/98gEgEiAO/V0DAP1f/fIB/fABIBMgD/1dAwD9X/3yAf3wASAUIBD9XQMA/V/98gH98AH98AH9Xv1bAwAAIAUgBf1dAwj9XyARIA39XQMI/V/98gEgEiAO/V0DCP1f/fIB/fABIBMgD/1dAwj9X/3yAf3wASAUIBD9XQMI/V/98gH98AH98AH9Xv1bAwgAIA1BEGohDSAOQRBqIQ4gD0EQaiEPIBBBEGohECAFQRBqIQUgBSAMSQ0ACyAFIAZrIQUMAAsLAkADQCAHIAhPDQEgBCAKKAIAIAZsaiENIAv9CgMAIREgB0EBaiEHIApBBGohCiALQQhqIQsDQCAFIAX9XQMA/V8gESAN/V0DAP1f/fIB/fAB/V79WwMAACANQQhqIQ0gBUEIaiEFIAUgDEkNAAsgBSAGayEFDAALCyAMIQUMAAsLCw==';

/** On places in the memory of the kernel, in bytes; its text describes them. */
interface Kernel {
  multiply(
    ...numbers: [
      offsets: number,
      rows: number,
      columns: number,
      values: number,
      dense: number,
      out: number,
      bytes: number,
    ]
  ): void;
}

const PAGE = 2 ** 16;
/** Rows of a product between two looks at the clock. */
const ROWS_OF_STEP = 64;
/** Columns of the dense matrix that are multiplied together at most, so that their memory stays small. */
const MOST_COLUMNS = 128;
/** Bytes of the dense matrix and all products at most, unless four columns need more. */
const MOST_BYTES = 2 ** 28;
/** Numbers of float32 that the kernel takes at a time, and their bytes. */
const [GROUP, NUMBER] = [4, 4];

const compile = once(() => new WebAssembly.Module(Buffer.from(KERNEL, 'base64')));

/**
 * The product of a dense matrix with sparse ones in turn, with the bits of `multiplySparseByDense` for each. A kernel
 * of WebAssembly computes at most 128 columns at a time, and keeps the products between in its memory. Lets events in.
 *
 * @param matrices A, B, ...: as many columns as the dense matrix, or the matrix before, has rows.
 * @param dense row-major [columns of A, width]
 * @param mostBytes of its memory for columns: fewer are computed at a time if they need more.
 * @returns ... B · A · dense, row-major
 */
export async function multiplyInTurn(
  matrices: readonly SparseMatrix[],
  dense: Float32Array,
  width: number,
  mostBytes: number = MOST_BYTES,
): Promise<Float32Array> {
  const pause = createEventBreaks();
  const numbers = matrices.reduce((sum, { rows }) => sum + rows, matrices[0]!.columns);
  const most = Math.max(GROUP, Math.min(MOST_COLUMNS, Math.floor(mostBytes / NUMBER / numbers)));
  const padded = GROUP * Math.ceil(width / Math.ceil(width / most) / GROUP);
  const memory = new ProductMemory(matrices, padded);
  const product = new Float32Array(matrices.at(-1)!.rows * width);
  for (let first = 0; first < width; first += padded) {
    const count = Math.min(padded, width - first);
    copyColumns(dense.subarray(first), width, memory.view(0), padded, count);
    for (const [i, { rows }] of matrices.entries()) {
      memory.view(i + 1).fill(0);
      for (let row = 0; row < rows; row += ROWS_OF_STEP) {
        memory.multiply(i, row, Math.min(ROWS_OF_STEP, rows - row));
        await pause();
      }
    }
    copyColumns(memory.view(matrices.length), padded, product.subarray(first), width, count);
  }
  return product;
}

/** Copies the first columns of row-major matrices. */
function copyColumns(from: Float32Array, fromWidth: number, to: Float32Array, toWidth: number, count: number): void {
  for (let at = 0, out = 0; at < from.length; at += fromWidth, out += toWidth)
    to.set(from.subarray(at, at + count), out);
}

/** The memory of the kernel: a dense matrix, its product with each sparse one, and some rows of a sparse one. */
class ProductMemory {
  readonly #matrices: readonly SparseMatrix[];
  readonly #bytes: number;
  readonly #buffer: ArrayBuffer;
  readonly #multiply: Kernel['multiply'];
  /** Places of the dense matrix and of each product, and of the rows of a sparse matrix. */
  readonly #places: readonly number[];
  readonly #values: number;
  readonly #columns: number;
  readonly #offsets: number;

  constructor(matrices: readonly SparseMatrix[], width: number) {
    this.#matrices = matrices;
    this.#bytes = width * NUMBER;
    let end = 0;
    const reserve = (bytes: number) => {
      end += bytes;
      return end - bytes;
    };
    this.#places = [matrices[0]!.columns, ...matrices.map(({ rows }) => rows)].map((rows) =>
      reserve(rows * this.#bytes),
    );
    const most = Math.max(...matrices.map(countMostEntries));
    this.#values = reserve(Float64Array.BYTES_PER_ELEMENT * most);
    this.#columns = reserve(Int32Array.BYTES_PER_ELEMENT * most);
    this.#offsets = reserve(Int32Array.BYTES_PER_ELEMENT * (ROWS_OF_STEP + 1));
    const memory = new WebAssembly.Memory({ initial: Math.ceil(end / PAGE) });
    this.#buffer = memory.buffer as ArrayBuffer;
    const { exports } = new WebAssembly.Instance(compile(), { host: { memory } });
    this.#multiply = exports.multiply as Kernel['multiply'];
  }

  /** The dense matrix at 0, then its product with each sparse one. */
  view(i: number): Float32Array {
    const rows = i === 0 ? this.#matrices[0]!.columns : this.#matrices[i - 1]!.rows;
    return new Float32Array(this.#buffer, this.#places[i], (rows * this.#bytes) / NUMBER);
  }

  /** Multiplies some rows of a sparse matrix, at most {@link ROWS_OF_STEP}, with the product before. */
  multiply(i: number, row: number, count: number): void {
    const { offsets, columnOf, values } = this.#matrices[i]!;
    const [start, end] = [offsets[row]!, offsets[row + count]!];
    new Int32Array(this.#buffer, this.#offsets).set(offsets.subarray(row, row + count + 1));
    new Int32Array(this.#buffer, this.#columns).set(columnOf.subarray(start, end));
    new Float64Array(this.#buffer, this.#values, end - start).set(values.subarray(start, end));
    this.#multiply(
      this.#offsets,
      count,
      this.#columns - Int32Array.BYTES_PER_ELEMENT * start,
      this.#values - Float64Array.BYTES_PER_ELEMENT * start,
      this.#places[i]!,
      this.#places[i + 1]! + row * this.#bytes,
      this.#bytes,
    );
  }
}

/** The most entries of {@link ROWS_OF_STEP} rows that are multiplied together. */
function countMostEntries({ rows, offsets }: SparseMatrix): number {
  let most = 0;
  for (let row = 0; row < rows; row += ROWS_OF_STEP)
    most = Math.max(most, offsets[Math.min(row + ROWS_OF_STEP, rows)]! - offsets[row]!);
  return most;
}
