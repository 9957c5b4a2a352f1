import * as tf from '@tensorflow/tfjs-core';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { computeRowWidth, gatherRows, viewRow } from '../../core/tensors/rows.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { Conversation } from '../../model/turns/conversation.ts';
import { type Corpus, findLowerBound, listConversationPositions } from '../../model/turns/corpus.ts';
import { packConversations } from './attention-rows.ts';
import { computeBandWidth } from './band.ts';
import type { PropagationOptions } from './options.ts';
import { propagateAtMoments, type TurnAtMoment } from './propagated-rows.ts';
import type { TurnOrder } from './ring-geometry.ts';

/** One version of a turn's propagated embedding: computed when its conversation had `size` turns. */
interface Version {
  /** Its place in the conversation, in time order. */
  readonly turn: number;
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
    for (let turn = 0; turn < size; turn++) {
      if (settled[turn] === 1) continue;
      const final = isOrdered ? findFinalSize(turn, reach, options) : Number.POSITIVE_INFINITY;
      settled[turn] = final <= size ? 1 : 0;
      versions.push(
        final <= size
          ? { turn, size: final, validFrom: (positions[final - 1] as number) + 1, validTo: end }
          : { turn, size, validFrom, validTo: next },
      );
    }
  }
  return versions;
}

/** Turns of short conversations in a block: few launches for all, and little waste beside the products. */
const BLOCK_TURNS = 256;

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
  /** Its row among those of all versions. */
  slot: number;
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

/** The versions of one conversation. */
interface ConversationPlan {
  readonly conversation: number;
  readonly versions: readonly PlannedVersion[];
  /** Corpus positions of the turns that they are made of. */
  readonly turns: Int32Array;
}

/** A version of a turn in a block: the first turns of some conversations, one after the other. */
type BlockVersion = PlannedVersion & TurnAtMoment;

/** Puts the versions of some conversations into a block. @returns them, and the [T] positions of their turns */
function buildBlock(plans: readonly ConversationPlan[], order: TurnOrder | undefined) {
  const turns = new Int32Array(plans.reduce((sum, plan) => sum + plan.turns.length, 0));
  const versions: BlockVersion[] = [];
  let start = 0;
  for (const plan of plans) {
    for (const version of plan.versions) {
      const ringPositionOf = order?.(plan.conversation, version.size).ringPositionOf ?? null;
      versions.push({ ...version, start, ringPositionOf });
    }
    turns.set(plan.turns, start);
    start += plan.turns.length;
  }
  return { versions, turns };
}

/** Receives the rows of some versions, row-major [versions, D]. */
type StoreVersions = (versions: readonly PlannedVersion[], rows: Float32Array) => void;

/** @param turns row-major [T, D] of the turns of a block */
async function computeBlock(
  turns: Float32Array,
  dimension: number,
  versions: readonly BlockVersion[],
  options: PropagationOptions,
  batchNumbers: number,
  store: StoreVersions,
): Promise<void> {
  const embeddings = tf.tensor2d(turns, [turns.length / dimension, dimension]);
  const batchSize = Math.max(1, Math.floor(batchNumbers / Math.max(...embeddings.shape)));
  try {
    for (let start = 0; start < versions.length; start += batchSize) {
      const batch = versions.slice(start, start + batchSize);
      store(batch, await readBack('propagateAtMoments', () => propagateAtMoments(embeddings, batch, options)));
    }
  } finally {
    embeddings.dispose();
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
  const plans = conversations.map((positions, conversation): ConversationPlan => {
    const planned = planVersions(positions, sorted, corpus.size + 1, reach, options, order === undefined);
    return {
      conversation,
      versions: planned.map((version) => ({ ...version, position: positions[version.turn] as number, slot: -1 })),
      turns: positions.subarray(0, findLargestSize(planned)),
    };
  });
  const versions = plans.flatMap((plan) => plan.versions).sort(compareVersions);
  for (const [slot, version] of versions.entries()) version.slot = slot;
  const vectors = new Float32Array(versions.length * dimension);
  const store: StoreVersions = (batch, rows) => {
    for (const [i, { slot }] of batch.entries()) vectors.set(viewRow(rows, dimension, i), slot * dimension);
  };
  const missing: ConversationPlan[] = [];
  const toKeep: ConversationPlan[] = [];
  for (const plan of plans) {
    const owner = corpus.conversations[plan.conversation] as Conversation;
    const mayKeep = isOfLastMoment(plan.versions, owner.turns.length, corpus.size + 1);
    const rows = mayKeep ? settings.kept?.get(owner) : undefined;
    if (rows !== undefined) store(plan.versions, rows);
    else missing.push(plan);
    if (mayKeep && rows === undefined) toKeep.push(plan);
  }
  const progress = (settings.progress ?? ignoreProgress)('propagation', plans.length);
  let done = plans.length - missing.length;
  const lengths = missing.map(({ turns }) => turns.length);
  for (const pack of packConversations(lengths, BLOCK_TURNS)) {
    const block = buildBlock(
      pack.map((place) => missing[place] as ConversationPlan),
      order,
    );
    const turns = gatherRows(embeddings, dimension, block.turns);
    await computeBlock(turns, dimension, block.versions, options, batchNumbers, store);
    done += pack.length;
    progress.update(done);
  }
  for (const plan of toKeep) {
    const slots = plan.versions.map(({ slot }) => slot);
    settings.kept?.set(corpus.conversations[plan.conversation] as Conversation, gatherRows(vectors, dimension, slots));
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
