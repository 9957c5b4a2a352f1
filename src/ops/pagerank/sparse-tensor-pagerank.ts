import * as tf from '@tensorflow/tfjs-core';
import { transpose } from '../../core/linear/sparse-matrix.ts';
import { hasKernel, readsSynchronously } from '../../core/tensors/backend.ts';
import type { PageRankSettings } from './pagerank-solver.ts';
import { type DeviceTransitions, TensorPageRank } from './tensor-pagerank.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** Ranks held at once, edges (or nodes, if there are more) × queries: 64 MiB, twice over while they are weighted. */
export const RANK_BLOCK = 2 ** 24;

/** Ranks gathered along the edges, weighted, and summed by target; O(E B) for an iteration. */
export class SparseTensorPageRank extends TensorPageRank {
  /** @throws ConfigurationError for an unknown option or one out of range. */
  constructor(matrix: TransitionMatrix, settings: PageRankSettings = {}) {
    super('sparse-tensor', matrix, settings, (own) => uploadEdges(orderEdgesByTarget(own)));
  }
}

/** Directed edges with the probability of each. */
export interface EdgeList {
  /** V. */
  readonly nodes: number;
  /** [E] position of the node that each edge leaves. */
  readonly sources: Int32Array;
  /** [E] position of the node that each edge enters, ascending. */
  readonly targets: Int32Array;
  /** Row-major, [E, 1], or [E, B] where each query has its own. */
  readonly probabilities: Float32Array;
}

/** Edges on the active backend. Of edges with probabilities for B queries, ranks of these queries are spread alone. */
export function uploadEdges(edges: EdgeList): DeviceTransitions {
  const { nodes, sources, targets, probabilities } = reachLastNode(edges);
  const count = sources.length;
  const tensors = {
    sources: tf.tensor1d(sources, 'int32'),
    targets: tf.tensor1d(targets, 'int32'),
    probabilities: tf.tensor2d(probabilities, [count, count === 0 ? 1 : probabilities.length / count]),
    each: tf.tensor1d(
      Int32Array.from({ length: count }, (_, edge) => edge),
      'int32',
    ),
  };
  const sumsSegments = hasKernel(tf.SparseSegmentSum) && readsSynchronously(); // the kernel reads the segments back
  return {
    batch: Math.max(1, Math.floor(RANK_BLOCK / Math.max(count, nodes, 1))),
    spread: (ranks) => (sumsSegments ? spreadBySegments(ranks, tensors) : spreadByAtomics(ranks, tensors)),
    dispose: () => tf.dispose(tensors),
  };
}

/**
 * The sum by segments has as many rows as the last segment says, so the last node gets an edge of probability 0 if no
 * edge leads to it.
 */
function reachLastNode(edges: EdgeList): EdgeList {
  const { nodes, sources, targets, probabilities } = edges;
  const count = sources.length;
  if (nodes === 0 || targets[count - 1] === nodes - 1) return edges;
  const columns = count === 0 ? 1 : probabilities.length / count;
  const longer = {
    nodes,
    sources: new Int32Array(count + 1),
    targets: new Int32Array(count + 1).fill(nodes - 1),
    probabilities: new Float32Array((count + 1) * columns),
  };
  longer.sources.set(sources);
  longer.targets.set(targets);
  longer.probabilities.set(probabilities);
  return longer;
}

/** Edges on the device, sorted by target. */
interface DeviceEdges {
  /** [E] */
  readonly sources: tf.Tensor1D;
  /** [E] */
  readonly targets: tf.Tensor1D;
  /** [E, 1] or [E, B] */
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

function orderEdgesByTarget({ probabilities }: TransitionMatrix): EdgeList {
  const { rows, offsets, columnOf, values } = transpose(probabilities);
  const targets = new Int32Array(values.length);
  for (let target = 0; target < rows; target++) targets.fill(target, offsets[target]!, offsets[target + 1]!);
  return { nodes: rows, sources: columnOf, targets, probabilities: Float32Array.from(values) };
}
