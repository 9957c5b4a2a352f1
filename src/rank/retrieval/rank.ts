import * as tf from '@tensorflow/tfjs-core';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { scoped } from '../../core/tensors/scope.ts';
import type { PoolRows } from '../signals/candidate-pool.ts';

/** The best K places of each of Q queries. */
export interface Ranking {
  /** Row-major [Q, K] places in the pool's rows, best first; -1 where a query has fewer candidates that are not left out. */
  readonly slots: Int32Array;
  /** Row-major [Q, K]. */
  readonly scores: Float32Array;
  /** K. */
  readonly depth: number;
}

/**
 * The score of a candidate that a step has left out, and of padding: below every score that an arm can give, and
 * finite, since topk and softmax turn infinities into NaN.
 */
export const LEFT_OUT = Math.fround(-3e38);

function assertShapes(pool: PoolRows, scores: Float32Array, depth: number): void {
  if (!Number.isInteger(depth) || depth < 1)
    throw new ValidationError(`depth is not a positive integer: ${depth}; pass a whole number from 1`, { depth });
  const count = pool.queryCount * pool.width;
  if (scores.length !== count) throw new DimensionMismatchError('scores of a pool', count, scores.length);
}

function assertFinite(pool: PoolRows, scores: Float32Array, name: (query: number, position: number) => string): void {
  for (let i = 0; i < scores.length; i++) {
    if ((pool.positions[i] as number) < 0 || Number.isFinite(scores[i])) continue;
    throw new NotFiniteError(
      'score',
      name(Math.floor(i / pool.width), pool.positions[i] as number),
      scores[i] as number,
    );
  }
}

/**
 * Orders each query's candidates by score descending, equal scores by the tie rule: the pool's rows follow the tie rule, and topk keeps the earlier place.
 *
 * @param scores row-major [Q, C]; {@link LEFT_OUT} for a candidate that is not ranked.
 * @param name says which query and candidate a place stands for, for the error.
 * @throws NotFiniteError naming the first score that is no number; ValidationError, DimensionMismatchError for a depth or scores that do not fit.
 */
export async function rank(
  pool: PoolRows,
  scores: Float32Array,
  depth: number,
  name: (query: number, position: number) => string,
): Promise<Ranking> {
  assertShapes(pool, scores, depth);
  assertFinite(pool, scores, name);
  await ensureBackend();
  const K = Math.min(depth, pool.width);
  const masked = scores.map((score, i) => ((pool.positions[i] as number) < 0 ? LEFT_OUT : score));
  const top = scoped('rank', () => tf.topk(tf.tensor2d(masked, [pool.queryCount, pool.width]), K, true)); // [Q, K]
  try {
    const [best, indices] = await Promise.all([top.values.data(), top.indices.data()]);
    const slots = Int32Array.from(indices, (slot, i) => {
      const query = Math.floor(i / K);
      return masked[query * pool.width + slot] === LEFT_OUT ? -1 : slot;
    });
    return { slots, scores: Float32Array.from(best), depth: K };
  } finally {
    tf.dispose([top.values, top.indices]);
  }
}
