import * as tf from '@tensorflow/tfjs-core';
import { type CoordinateName, listCoordinateWeights } from '../../ops/trajectory/coordinate-names.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import { trajectoryDistance } from '../../ops/trajectory/trajectory-distance.ts';
import type { World } from './signal.ts';
import type { TrajectoryOptions } from './signal-options.ts';
import { type CandidatePool, type Column, computeColumn, type PoolBatch, sliceBatch, uploadBatch } from './stage.ts';
import { trajectoryScore } from './trajectory-score.ts';

/**
 * The coordinates in which pairs are compared, the others being 0: at a cold start the temporal one alone (section 7.2
 * of diomande2026ragpp).
 *
 * @param coordinates row-major [pairs, M]
 * @param coldStart [pairs] 1 at a cold start
 */
export function keepCompared(
  coordinates: Float32Array,
  coldStart: Uint8Array,
  names: readonly CoordinateName[],
): Float32Array {
  const compared = coordinates.slice();
  for (const [pair, isCold] of coldStart.entries())
    if (isCold === 1)
      for (const [i, name] of names.entries()) if (name !== 'temporal') compared[pair * names.length + i] = 0;
  return compared;
}

function measureBatch(frames: QueryFrames, batch: PoolBatch, { dimensions, weights }: TrajectoryOptions): tf.Tensor2D {
  const coldStart = sliceBatch(frames.coldStart, batch);
  const upload = (coordinates: Float32Array) =>
    tf.tensor3d(keepCompared(sliceBatch(coordinates, batch, dimensions), coldStart, frames.names), [
      batch.count,
      batch.pool.width,
      dimensions,
    ]);
  const weighting = tf.tensor1d(listCoordinateWeights(dimensions, weights as Record<string, number>));
  return trajectoryDistance(upload(frames.candidates), upload(frames.queries), weighting);
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
