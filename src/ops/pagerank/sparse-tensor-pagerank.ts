import * as tf from '@tensorflow/tfjs-core';
import { transpose } from '../../core/linear/sparse-matrix.ts';
import { hasKernel, readsSynchronously } from '../../core/tensors/backend.ts';
import type { PageRankSettings } from './pagerank-solver.ts';
import { type DeviceTransitions, TensorPageRank } from './tensor-pagerank.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** Ranks held at once, edges (or nodes, if there are more) × queries: 64 MiB, twice over while they are weighted. */
const BLOCK = 2 ** 24;

/** Ranks gathered along the edges, weighted, and summed by target; O(E B) for an iteration. */
export class SparseTensorPageRank extends TensorPageRank {
  /** @throws ConfigurationError for an unknown option or one out of range. */
  constructor(matrix: TransitionMatrix, settings: PageRankSettings = {}) {
    super('sparse-tensor', matrix, settings, uploadEdges);
  }
}

function uploadEdges(matrix: TransitionMatrix): DeviceTransitions {
  const { sources, targets, probabilities } = orderEdgesByTarget(matrix);
  const count = sources.length;
  const tensors = {
    sources: tf.tensor1d(sources, 'int32'),
    targets: tf.tensor1d(targets, 'int32'),
    probabilities: tf.tensor2d(probabilities, [count, 1]),
    each: tf.tensor1d(
      Int32Array.from({ length: count }, (_, edge) => edge),
      'int32',
    ),
  };
  const sumsSegments = hasKernel(tf.SparseSegmentSum) && readsSynchronously(); // the kernel reads the segments back
  return {
    batch: Math.max(1, Math.floor(BLOCK / Math.max(count, matrix.nodeIds.length, 1))),
    spread: (ranks) => (sumsSegments ? spreadBySegments(ranks, tensors) : spreadByAtomics(ranks, tensors)),
    dispose: () => tf.dispose(tensors),
  };
}

/** Edges on the device, sorted by target. */
interface DeviceEdges {
  /** [E] */
  readonly sources: tf.Tensor1D;
  /** [E] */
  readonly targets: tf.Tensor1D;
  /** [E, 1] */
  readonly probabilities: tf.Tensor2D;
  /** 0, 1, ... E - 1 */
  readonly each: tf.Tensor1D;
}

/**
 * @param ranks [V, B]
 * @returns [V, B]
 */
function spreadBySegments(ranks: tf.Tensor2D, { sources, targets, probabilities, each }: DeviceEdges): tf.Tensor2D {
  // A segment for each edge gathers: tf.gather of rows takes a hundred times as long on wasm.
  const gathered = tf.sparse.sparseSegmentSum(ranks, sources, each); // [E, B]
  const weighted = tf.mul(gathered, probabilities); // [E, B]
  return tf.sparse.sparseSegmentSum(weighted, each, targets) as tf.Tensor2D;
}

/**
 * For backends that cannot sum by sorted segments: tfjs-node has no such kernel, and those of WebGPU read segments back synchronously, which Node cannot do.
 * wasm has no unsorted sum. The threads of a card add in any order, so the last bits of two runs may differ.
 *
 * @param ranks [V, B]
 * @returns [V, B]
 */
function spreadByAtomics(ranks: tf.Tensor2D, { sources, targets, probabilities }: DeviceEdges): tf.Tensor2D {
  const weighted = tf.mul(tf.gather(ranks, sources), probabilities); // [E, B]
  return tf.unsortedSegmentSum(weighted, targets, ranks.shape[0]) as tf.Tensor2D;
}

/** The sum by segments has as many rows as the last segment says, so the last node gets an edge of probability 0 if no edge leads to it. */
function orderEdgesByTarget({ probabilities, nodeIds }: TransitionMatrix) {
  const { offsets, columnOf, values } = transpose(probabilities);
  const nodes = nodeIds.length;
  const isReached = nodes === 0 || offsets[nodes - 1]! < offsets[nodes]!;
  const count = values.length + (isReached ? 0 : 1);
  const sources = new Int32Array(count);
  const targets = new Int32Array(count).fill(nodes - 1);
  const weights = new Float32Array(count);
  sources.set(columnOf);
  weights.set(values);
  for (let target = 0; target < nodes; target++) targets.fill(target, offsets[target]!, offsets[target + 1]!);
  return { sources, targets, probabilities: weights };
}
