import * as tf from '@tensorflow/tfjs-core';
import { listCoordinateWeights } from '../../ops/trajectory/coordinate-names.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import type { World } from './signal.ts';
import type { TrajectoryOptions } from './signal-options.ts';
import { type CandidatePool, type Column, computeColumn, type PoolBatch, sliceBatch, uploadBatch } from './stage.ts';
import { computeTrajectoryDistances, trajectoryScore } from './trajectory-score.ts';

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

/** exp(-D / sigma) of every pair. */
export async function computeTrajectory(
  world: World,
  pool: CandidatePool,
  frames: QueryFrames,
  options: TrajectoryOptions,
): Promise<Column> {
  const distances = await measureDistances(world, pool, frames, options);
  return computeColumn(pool, (batch) => trajectoryScore(uploadBatch(distances, batch), options.sigma));
}
