import * as tf from '@tensorflow/tfjs-core';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { type AttentionMix, attentionLogits, type LogitOptions, maskedSoftmax } from '../../ops/attention/options.ts';
import { assertMix, mixAttentions } from '../../ops/attention/unified-attention.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import { computeForwardLogMasses, findForwardCosines, listTurnsAhead, type TurnsAhead } from './forward-mass.ts';
import type { World } from './signal.ts';
import {
  type AttentionOptions,
  computeForwardBand,
  computeForwardWidth,
  type TrajectoryOptions,
} from './signal-options.ts';
import { type CandidatePool, type Column, computeColumn, maskBatch, type PoolBatch, uploadBatch } from './stage.ts';
import { measureDistances } from './trajectory-columns.ts';
import { drawPermutedOrder, listAheadInOrder } from './worlds/permuted-order.ts';

/**
 * Directed IRCP: each candidate looks forward over the turns after it up to and including the query, and its score is
 * the weight that falls on the query: `e^l / (e^l + sum_j e^l_j)`, a column of the anticausal attention matrix of its
 * conversation with the query as last turn.
 *
 * @param cosine [B, C] of query and candidate
 * @param distance [B, C] ring (or line) steps from candidate to query
 * @param logMasses [B, C] of the other keys, from `computeForwardLogMasses` with the same options
 * @param mask bool [B, C], false for padding
 * @returns [B, C] in [0, 1], 0 for padding
 */
export function forwardAttention(
  cosine: tf.Tensor2D,
  distance: tf.Tensor2D,
  logMasses: tf.Tensor2D,
  mask: tf.Tensor2D,
  options: LogitOptions,
): tf.Tensor2D {
  const sizes = assertShape('cosine', cosine, 'B C');
  assertShape('distance', distance, 'B C', sizes);
  assertShape('logMasses', logMasses, 'B C', sizes);
  assertShape('mask', mask, 'B C', sizes);
  return scoped('forwardAttention', () => {
    const logits = attentionLogits(cosine, distance, options);
    return tf.mul(tf.sigmoid(tf.sub(logits, logMasses)), tf.cast(mask, 'float32'));
  });
}

/**
 * A query's attention over its candidates: softmax of the logits of cosine and distance. With ring distances, each in
 * the candidate's own conversation, it is RCP (and literal IRCP, the same); with trajectory distances it is TPO. The
 * query stands last, so causal attention keeps all candidates.
 *
 * @param cosine [B, C]
 * @param distance [B, C]
 * @param mask bool [B, C], false for padding
 * @returns [B, C]; a row sums to 1, or is all zeros where it has no candidate
 */
export function candidateAttention(
  cosine: tf.Tensor2D,
  distance: tf.Tensor2D,
  mask: tf.Tensor2D,
  options: LogitOptions,
): tf.Tensor2D {
  const sizes = assertShape('cosine', cosine, 'B C');
  assertShape('distance', distance, 'B C', sizes);
  assertShape('mask', mask, 'B C', sizes);
  return scoped('candidateAttention', () => maskedSoftmax(attentionLogits(cosine, distance, options), mask));
}

/**
 * Unified scores, the mix of the three.
 *
 * @param scores [B, C] each
 * @returns [B, C]
 * @throws ValidationError for a mix that doesn't sum to 1 within 0.01.
 */
export function mixUnifiedScores(
  scores: Readonly<Record<'rcp' | 'ircp' | 'tpo', tf.Tensor2D>>,
  mix: AttentionMix,
): tf.Tensor2D {
  const sizes = assertShape('rcp', scores.rcp, 'B C');
  assertShape('ircp', scores.ircp, 'B C', sizes);
  assertShape('tpo', scores.tpo, 'B C', sizes);
  assertMix(mix);
  return mixAttentions(scores, mix);
}

/** A pool in its world, and what its column is computed from. */
interface Work<Inputs> {
  readonly world: World;
  readonly pool: CandidatePool;
  readonly inputs: Inputs;
}

/** The log of what the forward attention of each candidate sums to before the query. */
export async function computeLogMasses(
  { world, pool, inputs }: Work<{ readonly frames: QueryFrames }>,
  attention: AttentionOptions,
): Promise<Column> {
  const ahead = await openTurnsAhead(world, pool.positions, attention);
  return computeForwardLogMasses(ahead, { positions: pool.positions, ...inputs.frames }, attention);
}

/** The turns ahead of some turns in a world; an order other than that of time has no tables. */
async function openTurnsAhead(world: World, positions: Int32Array, attention: AttentionOptions): Promise<TurnsAhead> {
  const { corpus, turnVectors, control } = world;
  const width = computeForwardWidth(corpus, attention);
  if (control !== null)
    return listAheadInOrder(corpus, turnVectors, width, drawPermutedOrder(corpus, world.controlSeed(control)));
  const cosines = await findForwardCosines(world, positions, computeForwardBand(attention));
  return listTurnsAhead(corpus, cosines, width);
}

/** True if the mechanism compares coordinates. */
function comparesCoordinates({ mechanism }: AttentionOptions): boolean {
  return mechanism === 'tpo' || mechanism === 'unified';
}

interface AttentionInputs {
  readonly frames: QueryFrames;
  readonly cosine: Column;
  /** Of directed IRCP alone. */
  readonly logMasses?: Column | undefined;
  /** Trajectory distances, of TPO alone. */
  readonly distances: Column | null;
}

/** A batch's scores by the mechanism of the options. */
function scoreBatch(
  { frames, cosine, logMasses: masses, distances }: AttentionInputs,
  batch: PoolBatch,
  options: AttentionOptions,
): tf.Tensor2D {
  const cosines = uploadBatch(cosine, batch);
  const mask = maskBatch(batch);
  const steps = uploadBatch(options.topology === 'ring' ? frames.ringDistances : frames.lineDistances, batch);
  const mechanisms = {
    rcp: () => candidateAttention(cosines, steps, mask, options),
    ircp: () =>
      masses === undefined
        ? mechanisms.rcp()
        : forwardAttention(cosines, steps, uploadBatch(masses, batch), mask, options),
    tpo: () => candidateAttention(cosines, uploadBatch(distances as Column, batch), mask, options),
  };
  if (options.mechanism !== 'unified') return mechanisms[options.mechanism]();
  return mixUnifiedScores({ rcp: mechanisms.rcp(), ircp: mechanisms.ircp(), tpo: mechanisms.tpo() }, options.mix);
}

/** The score of each candidate by the mechanism of the options. @param coordinates that TPO compares. */
export async function computeAttention(
  { world, pool, inputs }: Work<object>,
  attention: AttentionOptions,
  coordinates: TrajectoryOptions,
): Promise<Column> {
  const { frames, cosine, logMasses: masses } = inputs as { frames: QueryFrames; cosine: Column; logMasses?: Column };
  const compares = comparesCoordinates(attention);
  const distances = compares ? await measureDistances(world, pool, frames, coordinates) : null;
  const parts = { frames, cosine, logMasses: masses, distances };
  return computeColumn(pool, (batch) => scoreBatch(parts, batch, attention));
}
