import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { type SparseMatrix, transpose } from '../../core/linear/sparse-matrix.ts';
import { matmul } from '../../core/tensors/matmul.ts';
import type { PageRankSettings } from './pagerank-solver.ts';
import { type DeviceTransitions, TensorPageRank } from './tensor-pagerank.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** Nodes whose matrix still fits: 256 MiB. */
export const DENSE_NODES = 8192;

/** The whole matrix times the ranks; O(V² B) for an iteration, for small graphs on a device that likes large products. */
export class DenseTensorPageRank extends TensorPageRank {
  /** @throws ValidationError for more than {@link DENSE_NODES} nodes; ConfigurationError for an unknown option or one out of range. */
  constructor(matrix: TransitionMatrix, settings: PageRankSettings = {}) {
    super('dense-tensor', matrix, settings, ({ probabilities }) => uploadMatrix(transpose(probabilities)));
  }
}

/**
 * A full matrix on the active backend.
 *
 * @param incoming Pᵀ, [V, V]; entries of the same place add up.
 * @throws ValidationError for more than {@link DENSE_NODES} nodes.
 */
export function uploadMatrix({ rows: nodes, offsets, columnOf, values }: SparseMatrix): DeviceTransitions {
  if (nodes > DENSE_NODES)
    throw new ValidationError(
      `${nodes} nodes are more than ${DENSE_NODES}, the limit of dense-tensor PageRank; use another solver`,
      { nodes },
    );
  const incoming = new Float32Array(nodes * nodes); // Pᵀ
  for (let target = 0; target < nodes; target++) {
    for (let entry = offsets[target]!; entry < offsets[target + 1]!; entry++)
      incoming[target * nodes + columnOf[entry]!]! += values[entry]!;
  }
  const tensor = tf.tensor2d(incoming, [nodes, nodes]);
  return { batch: nodes, spread: (ranks) => matmul(tensor, ranks), dispose: () => tf.dispose(tensor) };
}
