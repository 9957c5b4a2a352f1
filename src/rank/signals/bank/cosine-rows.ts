import * as tf from '@tensorflow/tfjs-core';
import { matmul } from '../../../core/tensors/matmul.ts';
import { readBack } from '../../../core/tensors/scope.ts';
import { assertShape } from '../../../core/tensors/shapes.ts';

/** Cosines of B queries to all N turns of their subcorpus, by one encoder. */
export class CosineRows {
  /** Row-major [N, B]. */
  readonly #cosines: Float32Array;
  readonly #count: number;

  private constructor(cosines: Float32Array, count: number) {
    this.#cosines = cosines;
    this.#count = count;
  }

  /**
   * @param turns [N, D] unit rows, borrowed
   * @param queries row-major [B, D], unit rows
   * @param count B
   * @throws DimensionMismatchError for queries of another width.
   */
  static async of(turns: tf.Tensor2D, queries: Float32Array, count: number): Promise<CosineRows> {
    const cosines = await readBack('cosineRows', () => {
      const rows = tf.tensor2d(queries, [count, queries.length / count]); // [B, D]
      assertShape('queries', rows, 'B D', assertShape('turns', turns, 'N D'));
      // The corpus on the left: 3 times faster on wasm than queries times corpus.
      return matmul(turns, tf.transpose(rows)); // [N, B]
    });
    return new CosineRows(cosines, count);
  }

  /** Copies the cosines of the query in a row to `scores` [N]. */
  copy(row: number, scores: Float64Array): void {
    for (let position = 0; position < scores.length; position++)
      scores[position] = this.#cosines[position * this.#count + row] as number;
  }
}
