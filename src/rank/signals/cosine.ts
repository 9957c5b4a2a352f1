import * as tf from '@tensorflow/tfjs-core';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { ensureBackend, prefersPlainProducts } from '../../core/tensors/backend.ts';
import { normaliseRows } from '../../core/tensors/matmul.ts';
import type { RowBlocks } from '../../core/tensors/row-blocks.ts';
import { multiplyChosenRows } from '../../core/tensors/row-products.ts';
import { assertShape, multiplyRows } from '../../core/tensors/rows.ts';
import { readBack, scoped } from '../../core/tensors/scope.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import type { EncoderOptions } from '../../index/encoders/registry.ts';
import type { PropagationOptions } from '../../ops/attention/options.ts';
import type { PropagatedVersions } from '../../ops/attention/versioned-propagation.ts';
import { defineSignal, defineStage, type StageUse, type World } from './signal.ts';
import { type PoolRows, QUERY_BATCH } from './stage.ts';
import { type Subcorpus, selectScopeVectors } from './subcorpus.ts';

/**
 * The turns' vectors mixed with those of their conversation, a row for each stretch of time in which a turn's row stays
 * as it is.
 */
export const propagatedRows = defineStage({
  name: 'propagated',
  module: import.meta.url,
  of: 'queries',
  isShared: true,
  reads: ['vectors', 'times', 'order'],
  compute: async ({ world }, options: PropagationOptions) => {
    const { propagateVersions } = await import('../../ops/attention/versioned-propagation.ts');
    const { drawPermutedOrder } = await import('./worlds/permuted-order.ts');
    const { corpus, turnVectors, batch, control, startProgress } = world;
    const kept = world.findKeptParts<Float32Array>(['propagated', options]);
    const settings =
      control === null ? kept && { kept } : { order: drawPermutedOrder(corpus, world.controlSeed(control)) };
    return propagateVersions(corpus, turnVectors, batch.cutoffs, options, { progress: startProgress, ...settings });
  },
});

/**
 * The row of the version that each place of a pool has at its query's moment.
 *
 * @param versions in order of validFrom.
 * @param cutoffs [Q]
 * @returns row-major [Q, C]; -1 for padding.
 * @throws ValidationError for a turn that has no version valid at the cutoff.
 */
export function findVersionRows(versions: PropagatedVersions, pool: PoolRows, cutoffs: Int32Array): Int32Array {
  const rowsOf = new Map<number, number[]>();
  for (const [row, position] of versions.positions.entries()) {
    const rows = rowsOf.get(position);
    if (rows === undefined) rowsOf.set(position, [row]);
    else rows.push(row);
  }
  return pool.positions.map((position, pair) => {
    if (position < 0) return -1;
    const cutoff = cutoffs[Math.floor(pair / pool.width)] as number;
    const row = rowsOf
      .get(position)
      ?.find(
        (candidate) =>
          (versions.validFrom[candidate] as number) <= cutoff && cutoff < (versions.validTo[candidate] as number),
      );
    if (row === undefined)
      throw new ValidationError(
        `turn at position ${position} has no propagated version at cutoff: ${cutoff}; pass the versions and the pool of one corpus`,
        { position, cutoff },
      );
    return row;
  });
}

/** Rows that candidates are among. */
export interface CosineRows {
  /** Row-major [N, D], of length 1 or 0. */
  readonly vectors: Float32Array;
  /** D */
  readonly dimension: number;
  /** The same on the device; called only if needed. */
  readonly blocks: () => Promise<RowBlocks>;
}

/** Rows [N, D] on the device. @param vectors row-major [N, D] */
async function uploadRows(vectors: Float32Array, dimension: number): Promise<RowBlocks> {
  const { RowBlocks } = await import('../../core/tensors/row-blocks.ts');
  await ensureBackend();
  return new RowBlocks(vectors, dimension);
}

/**
 * The turns of a subcorpus as an encoder has them, [N, D] on the device until the workspace is disposed.
 *
 * @param options of the encoder, null for the experiment's own; later turns are then added to the rows.
 */
export function keepTurnRows(
  { shared }: World,
  subcorpus: Subcorpus,
  options: EncoderOptions | null,
): Promise<RowBlocks> {
  const select = async () => {
    const { dimension, turnVectors } = await shared.embedWith(options);
    return [selectScopeVectors(subcorpus, turnVectors, dimension), dimension] as const;
  };
  const make = async () => uploadRows(...(await select()));
  // Another encoder may be one that is fitted to all turns.
  if (options !== null) return shared.keepOnce(['subcorpus rows', subcorpus.conversationId, options], make);
  return subcorpus.keepOnce('turn rows', make, async (earlier) => {
    earlier.growTo((await select())[0]);
    return earlier;
  });
}

/**
 * Cosines of queries with their candidates, 0 for padding and for zero vectors: all rows times a batch of queries on
 * the device, of which the candidates' are kept, or, where the device is the host, a loop over the candidates alone,
 * 2.4 ns for each of B C D numbers. The loop gives the same number for a pair whatever else is in the batch. Gathering
 * rows on the device is slower on wasm, 370 ms for B = 64, D = 512 and C = 300.
 *
 * @param queries row-major [B, D] of any length
 * @param positions row-major [B, C] rows, -1 for padding
 * @returns [B, C]
 * @throws DimensionMismatchError for queries or positions that are not whole rows.
 */
export async function computePairCosines(
  rows: CosineRows,
  queries: Float32Array,
  positions: Int32Array,
): Promise<Float32Array> {
  const { dimension } = rows;
  const count = queries.length / dimension;
  if (!Number.isInteger(count))
    throw new DimensionMismatchError('queries', `rows of ${dimension}`, `${queries.length} numbers`);
  const width = count === 0 ? 0 : positions.length / count;
  if (!Number.isInteger(width))
    throw new DimensionMismatchError('positions', `${count} rows of one width`, `${positions.length} numbers`);
  const result = new Float32Array(positions.length);
  for (let first = 0; first < count; first += QUERY_BATCH) {
    const batch = Math.min(QUERY_BATCH, count - first);
    const vectors = queries.subarray(first * dimension, (first + batch) * dimension);
    const slots = positions.subarray(first * width, (first + batch) * width);
    result.set(await computeBatchCosines(rows, vectors, slots, batch), first * width);
  }
  return result;
}

async function computeBatchCosines(
  rows: CosineRows,
  queries: Float32Array,
  positions: Int32Array,
  batch: number,
): Promise<Float32Array> {
  if (prefersPlainProducts()) {
    await letEventsIn();
    return computeHostCosines(rows, queries, positions);
  }
  const corpus = await rows.blocks();
  return readBack('computeCandidateCosines', () =>
    computeCandidateCosines(
      corpus,
      tf.tensor2d(queries, [batch, rows.dimension]),
      tf.tensor2d(positions, [batch, positions.length / batch], 'int32'),
    ),
  );
}

/**
 * {@link computeCandidateCosines} by a loop over the candidates on the host, O(B C D).
 *
 * @param queries row-major [B, D] of any length
 * @param positions row-major [B, C] rows, -1 for padding
 */
export function computeHostCosines(
  { vectors, dimension }: Omit<CosineRows, 'blocks'>,
  queries: Float32Array,
  positions: Int32Array,
): Float32Array {
  const result = new Float32Array(positions.length);
  const width = (positions.length * dimension) / queries.length;
  const products = multiplyChosenRows(queries, vectors, positions, dimension);
  for (let query = 0, pair = 0; pair < result.length; query++) {
    const length = Math.sqrt(multiplyRows(queries, query, queries, query, dimension));
    for (const end = pair + width; pair < end; pair++)
      result[pair] = length === 0 ? 0 : (products[pair] as number) / length;
  }
  return result;
}

/**
 * Cosines of queries with their candidates, 0 for padding and for zero vectors. One product with the whole corpus, of
 * which B C numbers are kept, O(N D B).
 *
 * @param corpus [N, D] rows of length 1 or 0
 * @param queries [B, D] of any length; callers keep B at {@link QUERY_BATCH} or below
 * @param positions int32 [B, C] rows of the corpus, -1 for padding
 * @returns [B, C]
 */
export function computeCandidateCosines(corpus: RowBlocks, queries: tf.Tensor2D, positions: tf.Tensor2D): tf.Tensor2D {
  const sizes = assertShape('queries', queries, 'B D', { D: corpus.dimension });
  assertShape('positions', positions, 'B C', sizes);
  return scoped('computeCandidateCosines', () => {
    const { B: batch = 0 } = sizes;
    const all = tf.reshape(corpus.multiply(tf.transpose(normaliseRows(queries))), [-1]); // [N B], many rows on the left are fast
    const columns = tf.expandDims(tf.range(0, batch, 1, 'int32'), 1); // [B, 1]
    const rows = tf.maximum(positions, tf.scalar(0, 'int32'));
    const slots: tf.Tensor2D = tf.add(tf.mul(rows, tf.scalar(batch, 'int32')), columns); // [B, C]
    const present = tf.cast(tf.greaterEqual(positions, 0), 'float32');
    return tf.mul(tf.gather(all, slots), present);
  });
}

type Versions = ReturnType<typeof propagatedRows> extends StageUse<infer R> ? R : never;

/** Cosine of every pair; with propagation, to the version of the turn that is valid at the query's moment. */
export const cosineSignal = defineSignal<PropagationOptions | null, { versions?: StageUse<Versions> }>({
  name: 'cosine',
  summary:
    "cosine by the experiment's encoder; with `propagation`, to the turn's vector mixed with those of its conversation",
  module: import.meta.url,
  reads: (propagation) => (propagation === null ? ['vectors'] : ['vectors', 'times', 'order']),
  key: () => null,
  inputs: (propagation) => (propagation === null ? {} : { versions: propagatedRows(propagation) }),
  compute: ({ world, pool, inputs }, propagation) => {
    const { dimension, whole, batch } = world;
    const versions = inputs.versions as Versions | undefined;
    if (versions === undefined) {
      const blocks = () => keepTurnRows(world, world.subcorpora.whole, null);
      const rows = { vectors: world.turnVectors, dimension, blocks };
      return computePairCosines(rows, batch.vectors, pool.positions);
    }
    const { vectors } = versions;
    const blocks = () =>
      whole.keepOnce(['version rows', propagation, world.control], () => uploadRows(vectors, dimension));
    return computePairCosines(
      { vectors, dimension, blocks },
      batch.vectors,
      findVersionRows(versions, pool, batch.cutoffs),
    );
  },
});
