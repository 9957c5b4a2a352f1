import * as tf from '@tensorflow/tfjs-core';
import { matmul } from '../../core/tensors/matmul.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { assertBackend, scoped } from '../../core/tensors/scope.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import { countWalkSteps, type WalkOptions } from './pagerank-solver.ts';
import type { SeedDistribution } from './seed-distribution.ts';
import { type DeviceTransitions, uploadSeedColumns } from './tensor-pagerank.ts';

/** Nodes at which walks end. */
export interface WalkEnds {
  /** V. */
  readonly nodes: number;
  /** Row-major [V, 1], or [V, B] where queries see other edges: 1 for a node that no edge leaves. */
  readonly dangling: Float32Array;
}

/** Tensors of a walk. */
interface HeldWalk {
  /** [V, B] the shares of the seeds. */
  readonly starts: tf.Tensor2D;
  /** [V, B] what returns to the seeds at every step. */
  readonly restart: tf.Tensor2D;
  /** [V, 1] or [V, B] damping at dangling nodes; absent where there is none. */
  readonly dangling?: tf.Tensor2D;
  /** [1, V] */
  readonly ones: tf.Tensor2D;
}

/**
 * Personalised PageRank of a batch by a number of steps that is known beforehand, see {@link countWalkSteps}. The
 * scores alone are read from the device, once, and those of a query depend on no other query. Float32 rounds besides.
 * A step costs one operation on the device besides those of `spread`, and five where a node is dangling: the whole walk
 * steps × (E B + V B) numbers.
 *
 * @param transitions whose `spread` multiplies by damping Pᵀ.
 * @param seeds of B queries.
 * @param ends the nodes whose ranks return to the seeds.
 * @returns row-major [V, B].
 * @throws UnavailableError where no backend was chosen; DimensionMismatchError for transitions of other sizes.
 */
export async function walkFromSeeds(
  transitions: DeviceTransitions,
  seeds: readonly SeedDistribution[],
  ends: WalkEnds,
  options: WalkOptions,
): Promise<Float32Array> {
  assertBackend('walkFromSeeds');
  const steps = countWalkSteps(options);
  const held = uploadWalk(seeds, ends, options.damping);
  let ranks = held.starts;
  try {
    for (let step = 0; step < steps; step++) {
      const next = scoped('walk.step', () => takeStep(transitions, held, ranks));
      if (ranks !== held.starts) tf.dispose(ranks);
      ranks = next;
      await letEventsIn();
    }
    return await ranks.data<'float32'>();
  } finally {
    tf.dispose([ranks, held.starts, held.restart, held.ones, ...(held.dangling ? [held.dangling] : [])]);
  }
}

function uploadWalk(seeds: readonly SeedDistribution[], { nodes, dangling }: WalkEnds, damping: number): HeldWalk {
  return scoped('walk.upload', () => {
    const starts = uploadSeedColumns(seeds, nodes);
    const restart = tf.mul(starts, 1 - damping) as tf.Tensor2D;
    const ones = tf.ones([1, nodes]) as tf.Tensor2D;
    if (!dangling.includes(1)) return { starts, restart, ones };
    const lost = dangling.map((mark) => damping * mark);
    return { starts, restart, ones, dangling: tf.tensor2d(lost, [nodes, lost.length / nodes]) };
  });
}

/**
 * @param ranks [V, B]
 * @returns the ranks after a step, [V, B]
 */
function takeStep(transitions: DeviceTransitions, walk: HeldWalk, ranks: tf.Tensor2D): tf.Tensor2D {
  const spread = transitions.spread(ranks);
  assertShape('spread ranks', spread, `${ranks.shape[0]} ${ranks.shape[1]}`);
  const reached = tf.add(spread, walk.restart) as tf.Tensor2D;
  if (walk.dangling === undefined) return reached;
  const lost = matmul(walk.ones, tf.mul(walk.dangling, ranks)); // [1, B]
  return tf.add(reached, tf.mul(walk.starts, lost));
}
