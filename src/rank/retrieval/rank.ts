import * as tf from '@tensorflow/tfjs-core';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { multiplyRows } from '../../core/tensors/rows.ts';
import { readBack, scoped } from '../../core/tensors/scope.ts';
import type { Selection, SelectionInputs } from '../../ops/selection/selection.ts';
import type { TopTurns } from '../rerank/column-options.ts';
import { findSelectionColumn, loadSelection, openTopScores, type SelectionOptions } from '../rerank/registry.ts';
import { type CandidatePool, type Column, type PoolRows, QUERY_BATCH } from '../signals/stage.ts';
import type { Workspace } from '../signals/workspace.ts';
import { divideScoresByRowMaximum } from './blend.ts';

/** The best K candidates of each of Q queries. */
export interface Ranking {
  /**
   * Row-major [Q, K] slots of the pool's rows, best first; -1 where a query has fewer candidates that are not left out.
   */
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

/** The scores with padding below all of them. @throws NotFiniteError for the first score that is no number. */
function maskPadding(
  { positions, width }: PoolRows,
  scores: Float32Array,
  name: (query: number, position: number) => string,
): Float32Array {
  const masked = scores.slice();
  for (let i = 0; i < scores.length; i++) {
    const position = positions[i] as number;
    if (position < 0) masked[i] = LEFT_OUT;
    else if (!Number.isFinite(scores[i]))
      throw new NotFiniteError('score', name(Math.floor(i / width), position), scores[i] as number);
  }
  return masked;
}

/**
 * Orders each query's candidates by score descending, equal scores by the tie rule: the pool's rows follow the tie
 * rule, and topk keeps the earlier slot.
 *
 * @param scores row-major [Q, C]; {@link LEFT_OUT} for a candidate that is not ranked.
 * @param name says which query and candidate a slot stands for, for the error.
 * @throws NotFiniteError naming the first score that is no number; ValidationError, DimensionMismatchError for a depth or scores that do not fit.
 */
export async function rank(
  pool: PoolRows,
  scores: Float32Array,
  depth: number,
  name: (query: number, position: number) => string,
): Promise<Ranking> {
  assertShapes(pool, scores, depth);
  const masked = maskPadding(pool, scores, name);
  await ensureBackend();
  const K = Math.min(depth, pool.width);
  const top = scoped('rank', () => tf.topk(tf.tensor2d(masked, [pool.queryCount, pool.width]), K, true)); // [Q, K]
  try {
    const [best, indices] = await Promise.all([top.values.data(), top.indices.data()]);
    const slots = (indices as Int32Array).map((slot, i) => {
      const query = Math.floor(i / K);
      return masked[query * pool.width + slot] === LEFT_OUT ? -1 : slot;
    });
    return { slots, scores: new Float32Array(best), depth: K };
  } finally {
    tf.dispose([top.values, top.indices]);
  }
}

/** Numbers in the largest tensor of a batch of queries: 16 MB. */
const BATCH_NUMBERS = 2 ** 22;

/** The best K candidates of each of B queries, best first. */
interface Top extends TopTurns {
  /** Row-major [B, K], any number where the position is -1. */
  readonly scores: Float32Array;
  /** Row-major [B, K] what a reranking orders by, 0 where the position is -1; null without one. */
  readonly column: Float32Array | null;
}

/**
 * Cosines among each query's turns, on the host: the embeddings are there, and wasm takes three times as long for
 * products as small as these.
 *
 * @returns row-major [B, K, K], 0 where there is no candidate
 */
function computeTopSimilarities(
  { turnVectors, dimension }: Workspace,
  { positions, depth }: Pick<Top, 'positions' | 'depth'>,
): Float32Array {
  const similarities = new Float32Array(positions.length * depth);
  for (let row = 0; row < positions.length; row++) {
    const first = row - (row % depth);
    for (let other = first; other <= row; other++) {
      const [a, b] = [positions[row] as number, positions[other] as number];
      const cosine = a < 0 || b < 0 ? 0 : multiplyRows(turnVectors, a, turnVectors, b, dimension); // of length 1, or 0
      similarities[row * depth + other - first] = cosine;
      similarities[other * depth + row - first] = cosine;
    }
  }
  return similarities;
}

function uploadSelectionInputs(workspace: Workspace, top: Top): SelectionInputs {
  const { positions, scores, depth, column } = top;
  const shape: [number, number] = [positions.length / depth, depth];
  const isPresent = Uint8Array.from(positions, (position) => Number(position >= 0));
  return {
    relevance: divideScoresByRowMaximum(
      tf.tensor2d(
        scores.map((score, i) => (isPresent[i] === 1 ? score : 0)),
        shape,
      ),
    ),
    // An order by a column compares no turns with each other.
    similarities:
      column === null
        ? tf.tensor3d(computeTopSimilarities(workspace, top), [...shape, depth])
        : tf.zeros([...shape, depth]),
    mask: tf.tensor2d(isPresent, shape, 'bool'),
    ...(column === null ? {} : { column: tf.tensor2d(column, shape) }),
  };
}

/** @returns row-major [B, K] slots of the top in the order in which they are taken, -1 where there are no more */
function selectTakenSlots(
  workspace: Workspace,
  top: Top,
  select: (inputs: SelectionInputs, k: number) => Selection,
): Promise<Float32Array> {
  return readBack('takenSlots', () =>
    tf.cast(select(uploadSelectionInputs(workspace, top), top.depth).slots, 'float32'),
  );
}

/** A query's slots: those that were taken, then the others in the order in which they stood. */
function reorderSlots(ordered: Int32Array, taken: Float32Array): number[] {
  const first = Array.from(
    taken.filter((slot) => slot >= 0),
    (slot) => ordered[slot] as number,
  );
  const isTaken = new Set(first);
  return [...first, ...ordered.filter((slot) => slot >= 0 && !isTaken.has(slot))];
}

/** The top K of queries first … first + count - 1. */
function cutTopRanks(
  pool: CandidatePool,
  ranking: Ranking,
  values: Column | null,
  first: number,
  count: number,
  depth: number,
): Top {
  const positions = new Int32Array(count * depth);
  const scores = new Float32Array(count * depth);
  const column = values === null ? null : new Float32Array(count * depth);
  for (let i = 0; i < positions.length; i++) {
    const query = first + Math.floor(i / depth);
    const pair = query * pool.width + (i % depth);
    const slot = ranking.slots[pair] as number;
    positions[i] = slot < 0 ? -1 : (pool.positions[query * pool.width + slot] as number);
    scores[i] = ranking.scores[pair] as number;
    if (column !== null && values !== null && slot >= 0) column[i] = values[query * pool.width + slot] as number;
  }
  return { positions, scores, depth, column };
}

/**
 * Reorders the top K of each query's ranking: what maximal marginal relevance or the diversity filter takes stands
 * first, in the order in which it is taken, then what it leaves, then everything below K, both in their old order. A
 * reranking by a column takes all of the top K. Relevance is score / largest score of the query, similarity the cosine
 * of the turns.
 *
 * @param scores row-major [Q, C], not negative; {@link LEFT_OUT} for a candidate that stays left out
 * @returns row-major [Q, C]: the number of candidates with at most the score of each, independent of the tie rule; 0
 *   for padding
 * @throws NotFiniteError naming the query and the turn of a score that is no number.
 */
export async function selectTop(
  workspace: Workspace,
  pool: CandidatePool,
  scores: Column,
  options: SelectionOptions,
): Promise<Column> {
  const { queryCount, width } = pool;
  const formatSelectedPair = (query: number, position: number) =>
    `query ${workspace.queries[query]?.id}, turn ${workspace.corpus.turns[position]?.id}`;
  const select = await loadSelection(options);
  const columnSignal = findSelectionColumn(options);
  const values = columnSignal === null ? null : await workspace.get(columnSignal, pool);
  const scoreTop = await openTopScores(workspace, options);
  const ranking = await rank(pool, scores, width, formatSelectedPair);
  const depth = Math.min(options.k, width);
  const size = Math.min(Math.max(1, Math.floor(BATCH_NUMBERS / depth ** 2)), QUERY_BATCH);
  const column = scores.map((score) => (score === LEFT_OUT ? LEFT_OUT : 0));
  for (let first = 0; first < queryCount; first += size) {
    const count = Math.min(size, queryCount - first);
    const cut = cutTopRanks(pool, ranking, values, first, count, depth);
    const top = scoreTop === null ? cut : { ...cut, column: await scoreTop(cut, first) };
    const taken = await selectTakenSlots(workspace, top, select);
    for (let i = 0; i < count; i++) {
      const start = (first + i) * width;
      const order = reorderSlots(
        ranking.slots.subarray(start, start + width),
        taken.subarray(i * depth, (i + 1) * depth),
      );
      for (const [above, slot] of order.entries()) column[start + slot] = order.length - above;
    }
  }
  return column;
}
