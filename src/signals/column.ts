import * as tf from '@tensorflow/tfjs-core';
import { readBack } from '../core/read-back.ts';
import type { PoolRows } from './candidate-pool.ts';
import { QUERY_BATCH } from './pair-cosines.ts';

/** A score for each candidate of a pool, row-major [Q, C]; 0 where the pool is padded. */
export type Column = Float32Array;

/** Queries first … first + count - 1 of a pool. */
export interface PoolBatch {
  readonly pool: PoolRows;
  readonly first: number;
  readonly count: number;
}

/** Computes a column batch by batch, in a scope each, and reads each batch back once. Padding is 0, whatever it is computed to. */
export async function computeColumn(pool: PoolRows, compute: (batch: PoolBatch) => tf.Tensor2D): Promise<Column> {
  const column = new Float32Array(pool.positions.length);
  for (let first = 0; first < pool.queryCount; first += QUERY_BATCH) {
    const batch = { pool, first, count: Math.min(QUERY_BATCH, pool.queryCount - first) };
    column.set(await readBack('computeColumn', () => compute(batch)), first * pool.width); // [B, C]
  }
  for (const [pair, position] of pool.positions.entries()) if (position < 0) column[pair] = 0;
  return column;
}

/** The batch's part of an array with `size` numbers for each pair. */
export function sliceBatch<A extends Float32Array | Int32Array | Uint8Array>(
  array: A,
  { pool, first, count }: PoolBatch,
  size = 1,
): A {
  return array.subarray(first * pool.width * size, (first + count) * pool.width * size) as A;
}

/** @returns [B, C] */
export function uploadBatch(array: Float32Array | Int32Array, batch: PoolBatch): tf.Tensor2D {
  const type = array instanceof Int32Array ? 'int32' : 'float32';
  return tf.tensor2d(sliceBatch(array, batch), [batch.count, batch.pool.width], type);
}

/** @returns [B, C], true where the pool holds a candidate. */
export function maskBatch(batch: PoolBatch): tf.Tensor2D {
  return tf.greaterEqual(uploadBatch(batch.pool.positions, batch), tf.scalar(0, 'int32'));
}
