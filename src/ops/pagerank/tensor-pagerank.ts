import * as tf from '@tensorflow/tfjs-core';
import { ConvergenceError } from '../../core/errors/errors.ts';
import { matmul } from '../../core/tensors/matmul.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { assertBackend, scoped } from '../../core/tensors/scope.ts';
import { parse } from '../../core/validation/validation.ts';
import {
  allocateResult,
  assertUsable,
  boundError,
  displayPageRank,
  type PageRankOptions,
  type PageRankResult,
  type PageRankSettings,
  type PageRankSolver,
  tensorPageRankOptions,
} from './pagerank-solver.ts';
import { buildSeedDistributions, type SeedDistribution, type SeedSet } from './seed-distribution.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** A transition matrix on the device. */
export interface DeviceTransitions {
  /** The number of queries per batch that bounds the size of intermediate tensors. */
  readonly batch: number;
  /**
   * @param ranks [V, B]
   * @returns Pᵀ ranks, [V, B]
   */
  spread(ranks: tf.Tensor2D): tf.Tensor2D;
  dispose(): void;
}

interface Device {
  readonly transitions: DeviceTransitions;
  /** 1 at the dangling nodes, [1, V]; a product with it sums over them, ten times faster on wasm than `tf.sum` along the nodes. */
  readonly dangling: tf.Tensor2D;
  /** [1, V] */
  readonly ones: tf.Tensor2D;
}

/** Power iteration in float32 on the active backend, batched over queries. A batch is iterated until all of its queries have converged. */
export class TensorPageRank implements PageRankSolver {
  readonly name: string;
  readonly #options: PageRankOptions;
  readonly #matrix: TransitionMatrix;
  #device: Device | null;

  constructor(
    name: string,
    matrix: TransitionMatrix,
    settings: PageRankSettings,
    upload: (matrix: TransitionMatrix) => DeviceTransitions,
  ) {
    this.name = name;
    this.#options = parse(tensorPageRankOptions, settings, `options of ${name} PageRank`);
    this.#matrix = matrix;
    const nodes = matrix.nodeIds.length;
    const isDangling = new Float32Array(nodes);
    for (const node of matrix.dangling) isDangling[node] = 1;
    assertBackend(name);
    const transitions = upload(matrix);
    this.#device = { transitions, dangling: tf.tensor2d(isDangling, [1, nodes]), ones: tf.ones([1, nodes]) };
  }

  async solve(queries: readonly SeedSet[]): Promise<PageRankResult> {
    const device = assertUsable(this.name, this.#device);
    const seeds = buildSeedDistributions(this.#matrix, queries);
    const result = allocateResult(seeds.length, this.#matrix.nodeIds.length);
    const { batch } = device.transitions;
    for (let start = 0; start < seeds.length; start += batch)
      await this.#solveBatch(device, seeds.slice(start, start + batch), start, result);
    return displayPageRank(result, this.#matrix.nodeIds);
  }

  async #solveBatch(
    device: Device,
    seeds: readonly SeedDistribution[],
    first: number,
    result: PageRankResult,
  ): Promise<void> {
    const nodes = this.#matrix.nodeIds.length;
    const { damping, tolerance, maxIterations } = this.#options;
    const restart = uploadSeedColumns(seeds, nodes); // [V, B]
    let ranks = restart; // [V, B]
    try {
      for (let iteration = 1; ; iteration++) {
        const { next, changes } = scoped('pagerank.step', () => step(device, damping, restart, ranks));
        if (ranks !== restart) tf.dispose(ranks);
        ranks = next;
        const residuals = await readAndDispose(changes);
        const residual = Math.max(...residuals);
        if (residual < tolerance) {
          keep(result, first, iteration, await ranks.data(), residuals, damping);
          return;
        }
        if (iteration === maxIterations)
          throw new ConvergenceError(`${this.name} PageRank`, maxIterations, tolerance, residual);
      }
    } finally {
      tf.dispose([ranks, restart]);
    }
  }

  dispose(): void {
    if (this.#device === null) return;
    const { transitions, dangling, ones } = this.#device;
    transitions.dispose();
    tf.dispose([dangling, ones]);
    this.#device = null;
  }
}

/** @returns [V, B] */
export function uploadSeedColumns(seeds: readonly SeedDistribution[], nodes: number): tf.Tensor2D {
  const columns = new Float32Array(nodes * seeds.length);
  for (const [query, { positions, shares }] of seeds.entries()) {
    for (let i = 0; i < positions.length; i++) columns[positions[i]! * seeds.length + query] = shares[i]!;
  }
  return tf.tensor2d(columns, [nodes, seeds.length]);
}

/**
 * @param seeds [V, B]
 * @param ranks [V, B]
 * @returns the next ranks, [V, B], and their L1 change, [1, B]
 */
function step(
  { transitions, dangling, ones }: Device,
  damping: number,
  seeds: tf.Tensor2D,
  ranks: tf.Tensor2D,
): { next: tf.Tensor2D; changes: tf.Tensor2D } {
  const spread = tf.mul(transitions.spread(ranks), damping);
  assertShape('spread ranks', spread, `${ranks.shape[0]} ${ranks.shape[1]}`);
  const restarted = tf.add(tf.mul(matmul(dangling, ranks), damping), 1 - damping); // [1, B]
  const next = tf.add(spread, tf.mul(seeds, restarted)) as tf.Tensor2D;
  return { next, changes: matmul(ones, tf.abs(tf.sub(next, ranks))) };
}

async function readAndDispose(tensor: tf.Tensor): Promise<Float32Array> {
  try {
    return (await tensor.data()) as Float32Array;
  } finally {
    tf.dispose(tensor);
  }
}

/** @param ranks [V, B], row-major. */
function keep(
  result: PageRankResult,
  first: number,
  iteration: number,
  ranks: ArrayLike<number>,
  residuals: Float32Array,
  damping: number,
): void {
  const batch = residuals.length;
  const nodes = ranks.length / batch;
  for (let query = 0; query < batch; query++) {
    const row = (first + query) * nodes;
    for (let node = 0; node < nodes; node++) result.scores[row + node] = ranks[node * batch + query]!;
    result.iterations[first + query] = iteration;
    result.errorBounds[first + query] = boundError(residuals[query]!, damping);
  }
}
