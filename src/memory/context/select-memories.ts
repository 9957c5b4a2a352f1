import * as tf from '@tensorflow/tfjs-core';
import { gatherRows, multiplyRows } from '../../core/tensors/rows.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { computeSimilarities } from '../../ops/selection/selection.ts';
import { loadSelection, type SelectionOptions } from '../../rank/rerank/registry.ts';

/** A memory that may be selected. */
export interface RankedMemory {
  readonly id: string;
  readonly score: number;
  /** The row of its vector. */
  readonly row: number;
}

/** How many memories a selection gives. */
export interface SelectionRange {
  /** Where the selection takes fewer, the best others follow that are no duplicates. */
  readonly least: number;
  readonly most: number;
}

/**
 * The memories of a ranking that are shown: those that a selection takes among the best k, from `least` to `most`.
 *
 * @param ranked best first.
 * @param vectors row-major [N, D], unit rows or zero.
 * @throws ValidationError for options that the selection refuses.
 */
export async function selectMemories<T extends RankedMemory>(
  ranked: readonly T[],
  vectors: Float32Array,
  dimension: number,
  options: SelectionOptions,
  { least, most }: SelectionRange,
): Promise<T[]> {
  const top = ranked.slice(0, options.k);
  if (top.length === 0) return [];
  const select = await loadSelection(options);
  const largest = Math.max(...top.map(({ score }) => score));
  const relevance = top.map(({ score }) => (largest > 0 ? score / largest : 0));
  const rows = gatherRows(
    vectors,
    dimension,
    top.map(({ row }) => row),
  );
  const slots = await readBack('memories', () => {
    const inputs = {
      relevance: tf.tensor2d(relevance, [1, top.length]),
      similarities: computeSimilarities(tf.tensor3d(rows, [1, top.length, dimension])),
      mask: tf.ones([1, top.length], 'bool') as tf.Tensor2D,
    };
    return tf.cast(select(inputs, Math.min(most, top.length)).slots, 'float32');
  });
  const taken = Array.from(
    slots.filter((slot) => slot >= 0),
    (slot) => top[slot] as T,
  );
  const threshold = ('duplicateAbove' in options ? options.duplicateAbove : undefined) ?? Number.POSITIVE_INFINITY;
  for (const memory of top) {
    if (taken.length >= Math.min(least, most)) break;
    const isNew = ({ row }: T) => multiplyRows(vectors, row, vectors, memory.row, dimension) < threshold;
    if (!taken.includes(memory) && taken.every(isNew)) taken.push(memory);
  }
  return taken;
}
