import * as tf from '@tensorflow/tfjs-core';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { type AttentionMix, attentionLogits, MASKED, softmaxRows } from '../../ops/attention/options.ts';
import { assertMix, mixAttentions } from '../../ops/attention/unified-attention.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import { computeForwardLogMasses, findForwardCosines, listTurnsAhead, type TurnsAhead } from './forward-mass.ts';
import { type AttentionInputs, computeHostColumn, computesOnHost, fillAttention } from './host-columns.ts';
import type { World } from './signal.ts';
import {
  type AttentionOptions,
  computeForwardBand,
  computeForwardWidth,
  type TrajectoryOptions,
} from './signal-options.ts';
import { type CandidatePool, type Column, computeColumn, type PoolBatch, sliceBatch, uploadBatch } from './stage.ts';
import { measureDistances } from './trajectory-columns.ts';
import { drawPermutedOrder, listAheadInOrder } from './worlds/permuted-order.ts';

/**
 * Directed IRCP: each candidate looks forward over the turns after it up to and including the query, and its score is
 * the weight that falls on the query: `e^l / (e^l + sum_j e^l_j)`, a column of the anticausal attention matrix of its
 * conversation with the query as last turn.
 *
 * @param logits [B, C] of query and candidate
 * @param logMasses [B, C] of the other keys, from `computeForwardLogMasses` with the options of the logits
 * @returns [B, C] in [0, 1]
 */
export function forwardAttention(logits: tf.Tensor2D, logMasses: tf.Tensor2D): tf.Tensor2D {
  const sizes = assertShape('logits', logits, 'B C');
  assertShape('logMasses', logMasses, 'B C', sizes);
  return scoped('forwardAttention', () => tf.sigmoid(tf.sub(logits, logMasses)));
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

/** The batch's rows of one or two columns, one column after the other. @returns [S B, C] */
function uploadStack(columns: readonly Float32Array[], batch: PoolBatch): tf.Tensor2D {
  const parts = columns.map((column) => sliceBatch(column, batch));
  const stacked = new Float32Array(parts.length * batch.count * batch.pool.width);
  for (const [i, part] of parts.entries()) stacked.set(part, i * part.length);
  return tf.tensor2d(stacked, [parts.length * batch.count, batch.pool.width]);
}

/**
 * A batch's scores by the mechanism of the options. The query stands last, so causal attention keeps all candidates:
 * RCP, and literal IRCP, is the softmax of the logits of cosine and of steps in each candidate's own conversation; TPO
 * has trajectory distances in the place of steps.
 */
export function scoreBatch(
  { steps, cosine, logMasses, distances }: AttentionInputs,
  batch: PoolBatch,
  options: AttentionOptions,
): tf.Tensor2D {
  const { mechanism, mix } = options;
  const compared = [...(mechanism === 'tpo' ? [] : [steps]), ...(distances === null ? [] : [distances])];
  const cosines = compared.map(() => cosine);
  const logits = attentionLogits(uploadStack(cosines, batch), uploadStack(compared, batch), options);
  const cut = (rows: tf.Tensor2D, i: number) =>
    compared.length === 1 ? rows : tf.slice(rows, [i * batch.count, 0], [batch.count, batch.pool.width]);
  const lookForward = (masses: Column) => forwardAttention(cut(logits, 0), uploadBatch(masses, batch));
  if (mechanism === 'ircp' && logMasses !== undefined) return lookForward(logMasses);
  const weights = softmaxRows(logits);
  if (mechanism !== 'unified') return weights;
  const rcp = cut(weights, 0);
  const ircp = logMasses === undefined ? rcp : lookForward(logMasses);
  return mixUnifiedScores({ rcp, ircp, tpo: cut(weights, 1) }, mix);
}

/** The score of each candidate by the mechanism of the options. @param coordinates that TPO compares. */
export async function computeAttention(
  { pool, inputs }: Pick<Work<object>, 'pool' | 'inputs'>,
  attention: AttentionOptions,
  coordinates: TrajectoryOptions,
): Promise<Column> {
  const { frames, cosine, logMasses } = inputs as { frames: QueryFrames; cosine: Column; logMasses?: Column };
  const steps = attention.topology === 'ring' ? frames.ringDistances : frames.lineDistances;
  const compares = comparesCoordinates(attention);
  const distances = compares ? await measureDistances(pool, frames, coordinates) : null;
  const masked = cosine.map((value, pair) => ((pool.positions[pair] as number) < 0 ? MASKED : value));
  const parts = { steps, cosine: masked, logMasses, distances };
  if (await computesOnHost()) return computeHostColumn(pool, fillAttention(parts, attention));
  return computeColumn(pool, (batch) => scoreBatch(parts, batch, attention));
}
