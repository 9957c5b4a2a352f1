import * as tf from '@tensorflow/tfjs-core';
import { readBack } from '../../core/tensors/scope.ts';
import type { Candidates } from '../../model/candidates.ts';
import type { Stage } from './stage.ts';

/** Queries in a batch: bounds the [N, B] product of cosines at 64 N numbers. */
export const QUERY_BATCH = 64;

/** C places for each of Q queries, in the order in which the tie rule puts equal scores (id descending). */
export interface PoolRows {
  readonly queryCount: number;
  /** C. */
  readonly width: number;
  /** Row-major [Q, C] corpus positions; -1 pads a row's end. */
  readonly positions: Int32Array;
}

/** The turns that a retriever scores. */
export interface CandidatePool extends PoolRows {
  /** That it came from: what its columns are keyed by. */
  readonly stage: Stage;
}

/**
 * The union of what several sources found for the same Q queries.
 *
 * @param slots [N] of {@link rankIdsDescending}: where the tie rule puts each turn among equal scores.
 * @param admits leaves out a turn, for example one of another channel.
 */
export function joinCandidates(
  sources: readonly Candidates[],
  queryCount: number,
  slots: Int32Array,
  admits: (query: number, position: number) => boolean,
): PoolRows {
  const rows: Int32Array[] = [];
  for (let query = 0; query < queryCount; query++) {
    const found = new Set<number>();
    for (const { positions, width } of sources) {
      for (const position of positions.subarray(query * width, (query + 1) * width)) {
        if (position >= 0 && admits(query, position)) found.add(position);
      }
    }
    rows.push(Int32Array.from(found).sort((a, b) => (slots[a] as number) - (slots[b] as number)));
  }
  const width = Math.max(1, ...rows.map((row) => row.length));
  const positions = new Int32Array(queryCount * width).fill(-1);
  for (const [query, row] of rows.entries()) positions.set(row, query * width);
  return { queryCount, width, positions };
}

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
