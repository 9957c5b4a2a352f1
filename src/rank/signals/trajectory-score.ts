import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { GrowingArray } from '../../core/numbers/growing-array.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { once } from '../../core/values/once.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { CorpusFrames } from '../../ops/trajectory/frame-tables.ts';
import type { QueryFrames, QueryPoints } from '../../ops/trajectory/query-frames.ts';
import { computeEach, defineStage, type Setting, type StageUse, type World } from './signal.ts';
import type { TrajectoryOptions } from './signal-options.ts';
import { COORDINATE_SOURCES } from './worlds/world-parts.ts';

/** Kept, since a loader such as that of tsx asks another thread for each import. */
const loadFrames = once(() => import('./placed-frames.ts'));

export const turnComponents = defineStage({
  name: 'turn-components',
  module: import.meta.url,
  of: 'turns',
  reads: ['texts'],
  compute: async ({ world }, _: null) => {
    const { countComponents } = await loadFrames();
    const count = async (turns: readonly Turn[]) => [
      ...(await countComponents(
        turns.map(({ text }) => text),
        world.startProgress,
      )),
    ];
    return (await computeEach(world, 'components', () => new GrowingArray(new Int32Array(0)), count)).numbers;
  },
});

const queryComponents = defineStage({
  name: 'query-components',
  module: import.meta.url,
  of: 'queries',
  reads: ['texts'],
  compute: async ({ world }, _: null) => (await loadFrames()).countComponents(world.batch.texts, world.startProgress),
});

/** The inputs of trajectory coordinates. */
export async function prepareFrameSources(
  world: World,
): Promise<{ readonly frames: CorpusFrames; readonly points: QueryPoints }> {
  const { openWorldFrames, buildQueryPoints } = await loadFrames();
  const frames = await openWorldFrames(world, await world.get(turnComponents(null)));
  return { frames, points: buildQueryPoints(world, await world.get(queryComponents(null))) };
}

/** The options that determine frames. */
export type FrameOptions = Pick<TrajectoryOptions, 'dimensions' | 'complexityScale'>;

/** Coordinates and ring geometry of every pair, as of the query's moment, before candidates exchange theirs. */
const placedFrames = defineStage({
  name: 'frames',
  module: import.meta.url,
  of: 'pairs',
  reads: COORDINATE_SOURCES,
  key: ({ dimensions, complexityScale }: FrameOptions) => [dimensions, complexityScale],
  inputs: () => ({ turns: turnComponents(null), queries: queryComponents(null) }),
  compute: async ({ world, pool, inputs }, options) => (await loadFrames()).placeFrames(world, pool, inputs, options),
});

/** Frames of which a control moves a part from pair to pair, or on the ring. */
const movedFrames = defineStage({
  name: 'controlled-frames',
  module: import.meta.url,
  of: 'pairs',
  isKept: false,
  reads: [...COORDINATE_SOURCES, 'order', 'coordinates'],
  key: () => null,
  inputs: (options: FrameOptions) => ({ frames: placedFrames(options) }),
  compute: async ({ world, pool, inputs: { frames } }): Promise<QueryFrames> =>
    (await loadFrames()).moveFrames(world, pool, frames),
});

/** Coordinates and ring geometry of every pair, as of the query's moment, in the world of the setting. */
export function pairFrames(options: FrameOptions, { control }: Pick<Setting, 'control'>): StageUse<QueryFrames> {
  const moves = control?.kind === 'permuted-order' || control?.kind === 'shuffled-coordinates';
  return moves ? movedFrames(options) : placedFrames(options);
}

/**
 * `exp(-D_traj / sigma)`, in (0, 1].
 *
 * @param distances [B, C]
 * @returns [B, C]
 * @throws ValidationError for a sigma that is not positive.
 */
export function trajectoryScore(distances: tf.Tensor2D, sigma: number): tf.Tensor2D {
  assertShape('distances', distances, 'B C');
  if (!(sigma > 0)) throw new ValidationError(`sigma is not positive: ${sigma}; pass a number above 0`, { sigma });
  return scoped('trajectoryScore', () => tf.exp(tf.mul(distances, -1 / sigma)));
}

/**
 * `alpha semantic + (1 - alpha) trajectory` with alpha = 1 - trajectoryWeight.
 *
 * @param semantic [B, C]
 * @param trajectory [B, C]
 * @param trajectoryWeight in [0, 1]
 * @returns [B, C]
 * @throws ValidationError for a weight outside [0, 1].
 */
export function blendTrajectory(semantic: tf.Tensor2D, trajectory: tf.Tensor2D, trajectoryWeight: number): tf.Tensor2D {
  const sizes = assertShape('semantic', semantic, 'B C');
  assertShape('trajectory', trajectory, 'B C', sizes);
  if (!(trajectoryWeight >= 0 && trajectoryWeight <= 1))
    throw new ValidationError(`trajectoryWeight is outside [0, 1]: ${trajectoryWeight}; pass a number in [0, 1]`, {
      trajectoryWeight,
    });
  return scoped('blendTrajectory', () =>
    tf.add(tf.mul(semantic, 1 - trajectoryWeight), tf.mul(trajectory, trajectoryWeight)),
  );
}
