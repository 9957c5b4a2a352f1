import * as tf from '@tensorflow/tfjs-core';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { matmul, normaliseRows } from '../../core/tensors/matmul.ts';
import { assertShape, computeRowWidth, gatherRows, viewRow } from '../../core/tensors/rows.ts';
import { readBack, scoped } from '../../core/tensors/scope.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import { type Corpus, findLowerBound, listConversationPositions } from '../../model/turns/corpus.ts';
import { computeBandWidth } from './band.ts';
import type { PropagationOptions } from './options.ts';
import { computeCosines, computeRingAttentionWeights } from './ring-attention.ts';
import { buildRingGeometry, type TurnOrder } from './ring-geometry.ts';

/** One version of a turn's propagated embedding: computed when its conversation had `size` turns. */
interface Version {
  /** Ring position in the conversation. */
  readonly ringPosition: number;
  readonly size: number;
  /** Valid for the cutoffs c with validFrom <= c < validTo. */
  readonly validFrom: number;
  readonly validTo: number;
}

/**
 * Steps that a newcomer reaches, under `tolerance`.
 *
 * additive: a turn further away keeps its version, and its attention output is within 4 tolerance of the exact one
 * (band.ts: far keys hold at most that share of the mass before and after, and unit values differ by at most 2).
 * multiplicative: every far key weighs e^0 = 1, so a newcomer moves each output by up to 2 / denominator, however far
 * it is: no distance is safe.
 */
export function countNewcomerSteps(options: PropagationOptions, tolerance: number): number {
  return options.combine === 'additive' ? computeBandWidth(options, tolerance) : Number.POSITIVE_INFINITY;
}

/** The fewest turns of its conversation with which a turn's version is final: no later turn can change it. */
function findFinalSize(ringPosition: number, reach: number, { topology, direction }: PropagationOptions): number {
  if (topology === 'line' && direction === 'causal') return ringPosition + 1; // later turns are no keys of it, and no distance changes
  const wraps = topology === 'ring' && direction !== 'causal' && ringPosition < reach;
  return wraps ? Number.POSITIVE_INFINITY : ringPosition + reach + 1;
}

/**
 * The versions of one conversation's turns that the given cutoffs need, by size, then position.
 *
 * @param positions ascending corpus positions of the conversation's turns
 * @param cutoffs ascending
 * @param end greater than any cutoff
 * @param isOrdered whether new turns are last; if they may be between others, no version is ever final
 */
export function planVersions(
  positions: Int32Array,
  cutoffs: Int32Array,
  end: number,
  reach: number,
  options: PropagationOptions,
  isOrdered = true,
): Version[] {
  const settled = new Uint8Array(positions.length);
  const versions: Version[] = [];
  for (let size = 1; size <= positions.length; size++) {
    const validFrom = (positions[size - 1] as number) + 1;
    const next = size === positions.length ? end : (positions[size] as number) + 1;
    const needed = (cutoffs[findLowerBound(cutoffs, validFrom)] ?? end) < next;
    if (!needed) continue;
    for (let ringPosition = 0; ringPosition < size; ringPosition++) {
      if (settled[ringPosition] === 1) continue;
      const final = isOrdered ? findFinalSize(ringPosition, reach, options) : Number.POSITIVE_INFINITY;
      settled[ringPosition] = final <= size ? 1 : 0;
      versions.push(
        final <= size
          ? { ringPosition, size: final, validFrom: (positions[final - 1] as number) + 1, validTo: end }
          : { ringPosition, size, validFrom, validTo: next },
      );
    }
  }
  return versions;
}

/**
 * The order of R chosen turns and all T turns of a conversation, if it is not that of time, as of the time of each
 * chosen turn.
 */
interface RingPositionsAsOf {
  /** int32 [R] */
  readonly own: tf.Tensor1D;
  /** [R, T], at least the conversation's size for a later turn. */
  readonly keys: tf.Tensor2D;
}

/**
 * Cosines of the chosen turns with all, [R, T], where no turn is multiplied twice: of all turns, where as many are
 * chosen.
 */
function computeChosenCosines(embeddings: tf.Tensor2D, turns: tf.Tensor1D): tf.Tensor2D {
  return scoped('computeChosenCosines', () =>
    turns.size < embeddings.shape[0]
      ? computeCosines(tf.gather(embeddings, turns), embeddings)
      : tf.gather(computeCosines(embeddings, embeddings), turns),
  );
}

/**
 * Propagated embeddings of R chosen turns of a conversation, each at the time when the conversation had `sizes[r]`
 * turns: `normalise((1 - beta) e + beta * attention output)`, the attention running over the first `sizes[r]` turns as
 * a ring of that size. O(R T D), the sum over keys being one plain matrix product for all times; cosines are O(min(R,
 * T) T D).
 *
 * @param embeddings [T, D] in time order
 * @param turns int32 [R] the chosen ones, each below its size
 * @param sizes int32 [R]
 * @param ringPositions the order of the turns; by default time order
 * @returns [R, D]; a row is zero where the mix of its embedding and its neighbours' is
 */
export function propagateAtMoments(
  embeddings: tf.Tensor2D,
  turns: tf.Tensor1D,
  sizes: tf.Tensor1D,
  options: PropagationOptions,
  ringPositions?: RingPositionsAsOf,
): tf.Tensor2D {
  const bound = assertShape('embeddings', embeddings, 'T D');
  assertShape('turns', turns, 'R', bound);
  assertShape('sizes', sizes, 'R', bound);
  if (ringPositions !== undefined) assertShape('positions of the keys', ringPositions.keys, 'R T', bound);
  return scoped('propagateAtMoments', () => {
    const cosine = computeChosenCosines(embeddings, turns);
    const inTime = buildRingGeometry(ringPositions?.own ?? turns, tf.range(0, bound.T as number, 1, 'int32'), sizes);
    const geometry = ringPositions === undefined ? inTime : { ...inTime, keyPositions: ringPositions.keys };
    const known: tf.Tensor2D = tf.less(geometry.keyPositions, geometry.ringSize); // [R, T]
    const weights = computeRingAttentionWeights(cosine, geometry, options, known); // [R, T]
    // The turn's own share is a weight, so that the product makes [R, D] once.
    const own = tf.cast(tf.equal(geometry.keyPositions, geometry.queryPositions), 'float32'); // [R, T]
    const shares: tf.Tensor2D = tf.add(tf.mul(own, 1 - options.beta), tf.mul(weights, options.beta));
    return normaliseRows(matmul(shares, embeddings));
  });
}

/**
 * Propagates all turns of a conversation.
 *
 * @param embeddings [T, D] in time order
 * @returns [T, D]
 */
export function propagateEmbeddings(embeddings: tf.Tensor2D, options: PropagationOptions): tf.Tensor2D {
  const { T: turns = 0 } = assertShape('embeddings', embeddings, 'T D');
  return scoped('propagate', () =>
    propagateAtMoments(embeddings, tf.range(0, turns, 1, 'int32'), tf.fill([turns], turns, 'int32'), options),
  );
}

/** Numbers in the largest tensor of a batch of versions, without the turns themselves: 16 MB. */
const BATCH_NUMBERS = 2 ** 22;

/** R versions of propagated embeddings, in order of validFrom, then position. */
export interface PropagatedVersions {
  /** Row-major [R, D]. */
  readonly vectors: Float32Array;
  /** [R] corpus positions. */
  readonly positions: Int32Array;
  /** [R] a version is the one to use for cutoffs c with validFrom <= c < validTo. */
  readonly validFrom: Int32Array;
  /** [R] the first cutoff at which the version is no longer used. */
  readonly validTo: Int32Array;
  /** Steps from a newcomer beyond which turns kept their version. */
  readonly reach: number;
}

interface PlannedVersion extends Version {
  readonly position: number;
}

function compareVersions(a: PlannedVersion, b: PlannedVersion): number {
  return a.validFrom - b.validFrom || a.position - b.position;
}

function findLargestSize(versions: readonly Version[]): number {
  return versions.reduce((most, { size }) => Math.max(most, size), 0);
}

/** True if the versions are those of all T turns of a conversation at the time of the last. */
function isOfLastMoment(versions: readonly Version[], T: number, end: number): boolean {
  return versions.length === T && versions.every(({ size, validTo }) => size === T || validTo === end);
}

/** The positions of the versions' turns and of all T turns of their conversation, for each version. */
function computeVersionPositions(
  versions: readonly Version[],
  T: number,
  ringPositionOf: (size: number) => Int32Array,
): RingPositionsAsOf {
  const own = Int32Array.from(versions, ({ ringPosition, size }) => ringPositionOf(size)[ringPosition] as number);
  const keys = new Float32Array(versions.length * T);
  for (const [row, { size }] of versions.entries()) {
    keys.set(ringPositionOf(size), row * T);
    for (let turn = size; turn < T; turn++) keys[row * T + turn] = turn;
  }
  return { own: tf.tensor1d(own, 'int32'), keys: tf.tensor2d(keys, [versions.length, T]) };
}

/**
 * Versions of one conversation's turns.
 *
 * @param embeddings [T, D] of its turns in time order
 * @param ringPositionOf the positions of the first turns; by default time order
 * @param store receives the rows of a batch, row-major [batch, D]
 */
async function computeVersions(
  embeddings: tf.Tensor2D,
  versions: readonly PlannedVersion[],
  options: PropagationOptions,
  ringPositionOf: ((size: number) => Int32Array) | undefined,
  batchNumbers: number,
  store: (batch: readonly PlannedVersion[], rows: Float32Array) => void,
): Promise<void> {
  const batchSize = Math.max(1, Math.floor(batchNumbers / Math.max(...embeddings.shape)));
  for (let start = 0; start < versions.length; start += batchSize) {
    const batch = versions.slice(start, start + batchSize);
    const uploadIntegers = (values: number[]) => tf.tensor1d(values, 'int32');
    const compute = () => {
      const turns = uploadIntegers(batch.map(({ ringPosition }) => ringPosition));
      const sizes = uploadIntegers(batch.map(({ size }) => size));
      const ringPositions = ringPositionOf && computeVersionPositions(batch, embeddings.shape[0], ringPositionOf);
      return propagateAtMoments(embeddings, turns, sizes, options, ringPositions);
    };
    store(batch, await readBack('computeVersions', compute));
  }
}

/**
 * Propagated embeddings for a replay: as a conversation grows its turns' embeddings change, and a query may only see
 * what was said before it. Each version is computed from the turns of its conversation that are strictly earlier than
 * the cutoffs it is valid for. Versions that no cutoff needs are not computed; a turn beyond the reach of newcomers
 * ({@link countNewcomerSteps}) keeps the first version of that kind, whatever the cutoffs. So a row depends on the
 * turns before its cutoff alone, not on the other cutoffs.
 *
 * @param embeddings row-major [N, D]
 * @param cutoffs of the queries, in any order: how many leading turns of the corpus each may see
 * @param settings.tolerance largest share of attention mass that a newcomer out of reach may have; default 1e-5
 * @param settings.order the order of the turns; by default time order
 * @param settings.kept the rows of conversations whose turns are all there at the only cutoff, [T, D] each: they are
 *   read, and added where they are missing; for these options and this order
 * @param settings.batchNumbers the maximum of numbers in a tensor of the device, without the turns of a conversation;
 *   by default 2²²
 * @throws DimensionMismatchError when the embeddings do not fit the corpus.
 */
export async function propagateVersions(
  corpus: Corpus,
  embeddings: Float32Array,
  cutoffs: Int32Array,
  options: PropagationOptions,
  settings: {
    readonly tolerance?: number;
    readonly progress?: StartProgress;
    readonly order?: TurnOrder;
    readonly batchNumbers?: number;
    readonly kept?: WeakMap<Conversation, Float32Array>;
  } = {},
): Promise<PropagatedVersions> {
  await ensureBackend();
  const dimension = computeRowWidth('embeddings of the corpus', embeddings, corpus.size);
  const { order, batchNumbers = BATCH_NUMBERS } = settings;
  const conversations = listConversationPositions(corpus);
  const reach =
    order === undefined ? countNewcomerSteps(options, settings.tolerance ?? 1e-5) : Number.POSITIVE_INFINITY;
  const sorted = cutoffs.toSorted();
  const plans = conversations.map((positions) =>
    planVersions(positions, sorted, corpus.size + 1, reach, options, order === undefined).map((version) => {
      return { ...version, position: positions[version.ringPosition] as number };
    }),
  );
  const versions = plans.flat().sort(compareVersions);
  const slotOf = new Map(versions.map((version, slot) => [version, slot]));
  const vectors = new Float32Array(versions.length * dimension);
  const store = (batch: readonly PlannedVersion[], rows: Float32Array) => {
    for (const [i, version] of batch.entries())
      vectors.set(viewRow(rows, dimension, i), (slotOf.get(version) as number) * dimension);
  };
  const progress = (settings.progress ?? ignoreProgress)('propagation', plans.length);
  const compute = async (conversation: number, plan: readonly PlannedVersion[]) => {
    const positions = (conversations[conversation] as Int32Array).subarray(0, findLargestSize(plan));
    const turns = tf.tensor2d(gatherRows(embeddings, dimension, positions), [positions.length, dimension]);
    try {
      const ringPositionOf = order && ((size: number) => order(conversation, size).ringPositionOf);
      await computeVersions(turns, plan, options, ringPositionOf, batchNumbers, store);
    } finally {
      turns.dispose();
    }
  };
  for (const [conversation, plan] of plans.entries()) {
    const owner = corpus.conversations[conversation] as Conversation;
    const kept = isOfLastMoment(plan, owner.turns.length, corpus.size + 1) ? settings.kept : undefined;
    const rows = kept?.get(owner);
    if (rows !== undefined) store(plan, rows);
    else if (plan.length > 0) await compute(conversation, plan);
    if (rows === undefined)
      kept?.set(
        owner,
        gatherRows(
          vectors,
          dimension,
          plan.map((version) => slotOf.get(version) as number),
        ),
      );
    progress.update(conversation + 1);
  }
  progress.finish(`${versions.length} versions`);
  return {
    vectors,
    positions: Int32Array.from(versions, ({ position }) => position),
    validFrom: Int32Array.from(versions, ({ validFrom }) => validFrom),
    validTo: Int32Array.from(versions, ({ validTo }) => validTo),
    reach,
  };
}
