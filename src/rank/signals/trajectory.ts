import * as tf from '@tensorflow/tfjs-core';
import { listCoordinateWeights } from '../../ops/trajectory/coordinate-names.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import {
  type CandidatePool,
  type Column,
  computeColumn,
  type PoolBatch,
  sliceBatch,
  uploadBatch,
} from './candidate-pool.ts';
import { pairFrames } from './frames.ts';
import { defineSignal, type World } from './signal.ts';
import type { TrajectoryOptions } from './trajectory-options.ts';
import { computeTrajectoryDistances, trajectoryScore } from './trajectory-score.ts';
import { listDistanceReads } from './worlds/world-parts.ts';

function measureBatch(frames: QueryFrames, batch: PoolBatch, { dimensions, weights }: TrajectoryOptions): tf.Tensor2D {
  const shape: [number, number, number] = [batch.count, batch.pool.width, dimensions];
  const coldStart = tf.tensor2d(sliceBatch(frames.coldStart, batch), [batch.count, batch.pool.width], 'bool');
  const pairs = {
    candidates: tf.tensor3d(sliceBatch(frames.candidates, batch, dimensions), shape),
    queries: tf.tensor3d(sliceBatch(frames.queries, batch, dimensions), shape),
    coldStart,
    dimensions,
  };
  return computeTrajectoryDistances(
    pairs,
    tf.tensor1d(listCoordinateWeights(dimensions, weights as Record<string, number>)),
  );
}

/** Trajectory distance of every pair, which the trajectory score and TPO share. */
export function measureDistances(
  world: World,
  pool: CandidatePool,
  frames: QueryFrames,
  options: TrajectoryOptions,
): Promise<Column> {
  const { dimensions, complexityScale, weights } = options;
  const key = ['trajectory distances', pool.stage.key, dimensions, complexityScale, weights, world.control];
  return world.keepOnce(key, () => computeColumn(pool, (batch) => measureBatch(frames, batch, options)));
}

/** exp(-D / sigma). */
export const trajectorySignal = defineSignal({
  name: 'trajectory',
  summary: 'exp(-D / sigma) of the distance D in trajectory coordinates',
  module: import.meta.url,
  reads: listDistanceReads,
  key: ({ weight: _, ...key }: TrajectoryOptions) => key,
  inputs: (options, setting) => ({ frames: pairFrames(options, setting) }),
  compute: async ({ world, pool, inputs }, options) => {
    const distances = await measureDistances(world, pool, inputs.frames, options);
    return computeColumn(pool, (batch) => trajectoryScore(uploadBatch(distances, batch), options.sigma));
  },
});
