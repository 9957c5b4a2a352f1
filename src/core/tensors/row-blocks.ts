import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../errors/errors.ts';
import { matmul } from './matmul.ts';
import { scoped } from './scope.ts';

/** Enough rows for a fast product, and few enough to be uploaded again with every later row. */
const BLOCK_ROWS = 4096;

/**
 * The rows of a matrix [N, D] on the device, in blocks: rows that come after them cost an upload of the last block
 * alone, whatever N. Products with them have the bits of the product with one matrix on wasm and cpu.
 */
export class RowBlocks {
  /** D */
  readonly dimension: number;
  readonly #blockRows: number;
  /** Each of `blockRows` rows but the last, which may have fewer. */
  readonly #blocks: tf.Tensor2D[] = [];
  #size = 0;
  #isDisposed = false;

  /** @param rows row-major [N, D] */
  constructor(rows: Float32Array, dimension: number, blockRows = BLOCK_ROWS) {
    this.dimension = dimension;
    this.#blockRows = blockRows;
    this.growTo(rows);
  }

  /** N */
  get size(): number {
    return this.#size;
  }

  /** @param rows row-major: the rows that there are, and later ones. */
  growTo(rows: Float32Array): void {
    const { dimension } = this;
    const blockRows = this.#blockRows;
    const size = rows.length / dimension;
    const full = Math.floor(this.#size / blockRows);
    for (const last of this.#blocks.splice(full)) last.dispose();
    for (let first = full * blockRows; first < size; first += blockRows) {
      const count = Math.min(blockRows, size - first);
      const block = rows.subarray(first * dimension, (first + count) * dimension);
      this.#blocks.push(tf.tensor2d(block, [count, dimension]));
    }
    this.#size = size;
  }

  /**
   * @param columns [D, K]
   * @returns the rows times the columns, [N, K]
   * @throws ValidationError after `dispose()`.
   */
  multiply(columns: tf.Tensor2D): tf.Tensor2D {
    if (this.#isDisposed) throw new ValidationError(`rows were disposed: ${this.#size}; upload them again`);
    if (this.#size === 0) return tf.zeros([0, columns.shape[1]]);
    return scoped('multiplyRowBlocks', () => tf.concat(this.#blocks.map((block) => matmul(block, columns))));
  }

  dispose(): void {
    tf.dispose(this.#blocks.splice(0));
    this.#isDisposed = true;
  }
}
