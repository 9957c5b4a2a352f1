import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { assertShape } from '../../core/tensors/rows.ts';
import { invertOrZero, scoped } from '../../core/tensors/scope.ts';
import { createOpenSchema } from '../../core/validation/validation.ts';
import type { Candidates } from '../../model/candidates.ts';
import type { Query } from '../../model/dataset.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { combSumOptions } from '../../ops/fusion/combination.ts';
import { reciprocalRankOptions } from '../../ops/fusion/reciprocal-rank.ts';
import { FUSIONS, type FusionOptions, fuseColumns, type fusionOptions } from '../../ops/fusion/registry.ts';
import { markHeld, type ScoreColumns } from '../../ops/fusion/score-columns.ts';
import type { Column, PoolRows } from '../signals/stage.ts';
import { listAskedConversations } from '../signals/subcorpus.ts';

/**
 * Each row divided by its largest value; a row without a positive value, or with subnormal ones alone, becomes 0. Keeps
 * the order within a row and makes rows comparable.
 */
export function divideScoresByRowMaximum(scores: tf.Tensor2D): tf.Tensor2D {
  assertShape('scores', scores, 'B C');
  // One quotient a row: wasm takes ten times as long for one a score.
  return scoped('divideScoresByRowMaximum', () => tf.mul(scores, invertOrZero(tf.max(scores, 1, true))));
}

/**
 * `(1 - weight) base / max(base) + weight signal / max(signal)`, the maxima taken over each query's candidates.
 *
 * @param base [B, C], not negative
 * @param signal [B, C], not negative
 * @param weight in [0, 1]
 * @returns [B, C]
 */
export function blendScores(base: tf.Tensor2D, signal: tf.Tensor2D, weight: number): tf.Tensor2D {
  const sizes = assertShape('base', base, 'B C');
  assertShape('signal', signal, 'B C', sizes);
  return scoped('blend', () =>
    tf.add(tf.mul(divideScoresByRowMaximum(base), 1 - weight), tf.mul(divideScoresByRowMaximum(signal), weight)),
  );
}

/** Up to where queries can look back: in the whole corpus, and in conversations that are asked alone. */
export interface QueryReach {
  /** The limit of the queries that ask the whole corpus: turns at positions below may answer one of them. */
  readonly corpus: number;
  /**
   * Index of a conversation in `corpus.conversations`, and the position that limits its turns; those that reach further
   * than `corpus`, by index.
   */
  readonly conversations: readonly (readonly [conversation: number, limit: number])[];
}

/**
 * The spans that some queries can look back from positions: nothing else of the corpus has an influence on what they
 * find.
 */
export function computeQueryReach(corpus: Corpus, queries: readonly Query[]): QueryReach {
  const limits = new Map<number, number>();
  const raise = (conversation: number, cutoff: number) =>
    limits.set(conversation, Math.max(limits.get(conversation) ?? 0, cutoff));
  const asked = listAskedConversations(corpus, queries);
  for (const [queryIndex, { timestamp, anchorTurnId }] of queries.entries()) {
    const cutoff = corpus.countEarlierTurns(timestamp);
    raise(asked[queryIndex] as number, cutoff);
    if (anchorTurnId !== null) raise(corpus.conversationOf[corpus.getPosition(anchorTurnId)] as number, cutoff);
  }
  const whole = limits.get(-1) ?? 0;
  const conversations = [...limits].filter(([queryIndex, limit]) => queryIndex >= 0 && limit > whole);
  return { corpus: whole, conversations: conversations.sort(([a], [b]) => a - b) };
}

/** The positions of the turns within reach, ascending. */
export function listTurnsWithin(corpus: Corpus, { corpus: whole, conversations }: QueryReach): ReadonlySet<number> {
  const positions = new Set<number>();
  for (let position = 0; position < whole; position++) positions.add(position);
  if (conversations.length === 0) return positions;
  const limits = new Map(conversations);
  for (let position = whole; position < corpus.size; position++) {
    const limit = limits.get(corpus.conversationOf[position] as number);
    if (limit !== undefined && position < limit) positions.add(position);
  }
  return positions;
}

/**
 * How several signals become one. `convex`, `weighted`, the methods of plugins and the two that begin with `pool` fuse scores of the whole pool: every signal scores and ranks
 * each candidate, whichever source found it; `graph` alone scores what its own source found. All others fuse the lists that the signals' sources found, as {@link fuseLists} does with run files: a candidate
 * gets nothing from a list that lacks it.
 */
export const relevanceFusionOptions = createOpenSchema(
  () =>
    z.discriminatedUnion('method', [
      ...(FUSIONS.members.map(({ options }) => options) as unknown as typeof fusionOptions.options),
      reciprocalRankOptions.extend({ method: z.literal('pool-rrf') }),
      combSumOptions.extend({ method: z.literal('pool-combsum') }),
    ]),
  () => FUSIONS.changes,
);
/** The checked options of one fusion of an arm. */
export type PoolFusionOptions = z.output<typeof relevanceFusionOptions>;

/** True if the signals' own lists are fused, and not scores of the whole pool. */
export function fusesLists({ method }: PoolFusionOptions): boolean {
  if (method === 'pool-rrf' || method === 'pool-combsum') return false;
  return FUSIONS.get(method).fusesPool !== true;
}

/** The fusion that is computed, whatever it is given. */
export function resolveFusion(options: PoolFusionOptions): FusionOptions {
  switch (options.method) {
    case 'pool-rrf':
      return { ...options, method: 'rrf' };
    case 'pool-combsum':
      return { ...options, method: 'combsum' };
    default:
      return options;
  }
}

/** The places of a pool's row that hold a candidate. */
function countOccupied(pool: PoolRows, query: number): number {
  const row = pool.positions.subarray(query * pool.width, (query + 1) * pool.width);
  const padding = row.indexOf(-1);
  return padding === -1 ? pool.width : padding;
}

/** (1 + cos) / 2, the semantic weight of ring attention: never negative, so that it can be decayed and blended. */
export function computeSemanticWeight(cosines: Column): Column {
  return cosines.map((cosine) => (1 + cosine) / 2);
}

/** What the sources of each column found, by its name. */
export type ColumnLists = ReadonlyMap<string, readonly Candidates[]>;

/** The scores of a query's candidates; NaN for those that the column's sources did not find, where its list is given. */
function listCandidateScores(
  pool: PoolRows,
  query: number,
  column: Column,
  sources: readonly Candidates[] | undefined,
) {
  const start = query * pool.width;
  const end = start + countOccupied(pool, query);
  const scores = Float64Array.from(column.subarray(start, end));
  if (sources === undefined) return scores;
  const listed = new Set<number>();
  for (const { positions, width } of sources)
    for (const position of positions.subarray(query * width, (query + 1) * width)) listed.add(position);
  return scores.map((score, c) => (listed.has(pool.positions[start + c] as number) ? score : Number.NaN));
}

/**
 * Shifts the scores of the candidates that a list holds so that the lowest is 0, where the normalisation gave negative ones; their order stays. Decay would
 * raise a negative score, and a candidate that no list holds, which has 0, must not rank above one that a list holds.
 */
function shiftToZero(fused: Float64Array, columns: ScoreColumns): Float64Array {
  const lowest = fused.reduce((low, score) => Math.min(low, score), 0);
  if (lowest === 0) return fused;
  const held = markHeld(columns);
  return fused.map((score, c) => (held[c] === 1 ? score - lowest : 0));
}

/**
 * Fuses the columns of each query over its candidates, or their lists where they are given; a candidate that no list holds has 0. No score of a method
 * with a normalisation is negative.
 *
 * @param columns by name, in the order that the method asks for.
 * @returns [Q, C]
 */
export function fuseColumnsOfPool(
  pool: PoolRows,
  columns: ReadonlyMap<string, Column>,
  options: FusionOptions,
  lists?: ColumnLists,
): Column {
  const fused = new Float32Array(pool.positions.length);
  for (let query = 0; query < pool.queryCount; query++) {
    const named = Object.fromEntries(
      Array.from(columns, ([name, column]) => [name, listCandidateScores(pool, query, column, lists?.get(name))]),
    );
    const scores = fuseColumns(named, options);
    fused.set('normalisation' in options ? shiftToZero(scores, named) : scores, query * pool.width);
  }
  return fused;
}
