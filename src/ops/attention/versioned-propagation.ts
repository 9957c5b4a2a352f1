import * as tf from '@tensorflow/tfjs-core';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { readBack } from '../../core/tensors/read-back.ts';
import { computeRowWidth, gatherRows, viewRow } from '../../core/tensors/rows.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { listConversationPositions } from '../../model/turns/conversation-positions.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { PropagationOptions } from './options.ts';
import { propagateAtMoments, type RingPositionsAsOf } from './propagation.ts';
import type { TurnOrder } from './turn-order.ts';
import { countNewcomerSteps, planVersions, type Version } from './version-plan.ts';

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
 * @param ringPositionOf the places of the first turns; by default time order
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
 * Propagated embeddings for a replay: as a conversation grows its turns' embeddings change, and a query may only see what was said before it. Each version is
 * computed from the turns of its conversation that are strictly earlier than the cutoffs it is valid for. Versions that no cutoff needs are not computed; turns
 * beyond the reach of a newcomer keep theirs ({@link countNewcomerSteps}).
 *
 * @param embeddings row-major [N, D]
 * @param cutoffs of the queries, in any order: how many leading turns of the corpus each may see
 * @param settings.tolerance largest share of attention mass that a newcomer out of reach may have; default 1e-5
 * @param settings.order the order of the turns; by default time order
 * @param settings.batchNumbers the maximum of numbers in a tensor of the device, without the turns of a conversation; by default 2²²
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
  for (const [conversation, plan] of plans.entries()) {
    const positions = (conversations[conversation] as Int32Array).subarray(0, findLargestSize(plan));
    if (plan.length > 0) {
      const turns = tf.tensor2d(gatherRows(embeddings, dimension, positions), [positions.length, dimension]);
      try {
        const ringPositionOf = order && ((size: number) => order(conversation, size).ringPositionOf);
        await computeVersions(turns, plan, options, ringPositionOf, batchNumbers, store);
      } finally {
        turns.dispose();
      }
    }
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
