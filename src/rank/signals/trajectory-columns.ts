import * as tf from '@tensorflow/tfjs-core';
import { getOrCompute } from '../../core/values/once.ts';
import { type CoordinateName, listCoordinateWeights } from '../../ops/trajectory/coordinate-names.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import { trajectoryDistance } from '../../ops/trajectory/trajectory-distance.ts';
import { computeHostColumn, computesOnHost, fillDistances, fillTrajectory } from './host-columns.ts';
import type { TrajectoryOptions } from './signal-options.ts';
import { type Column, computeColumn, type PoolBatch, type PoolRows, sliceBatch, uploadBatch } from './stage.ts';
import { trajectoryScore } from './trajectory-score.ts';

/**
 * Candidates that differ from their queries where they are compared: at a cold start in the temporal coordinate alone
 * (section 7.2 of diomande2026ragpp).
 *
 * @param candidates row-major [pairs, M]
 * @param queries row-major [pairs, M]
 * @param coldStart [pairs] 1 at a cold start
 * @returns row-major [pairs, M]
 */
export function keepCompared(
  candidates: Float32Array,
  queries: Float32Array,
  coldStart: Uint8Array,
  names: readonly CoordinateName[],
): Float32Array {
  const compared = candidates.slice();
  const [width, temporal] = [names.length, names.indexOf('temporal')];
  for (let pair = 0; pair < coldStart.length; pair++) {
    if (coldStart[pair] === 0) continue;
    for (let i = 0, at = pair * width; i < width; i++, at++) if (i !== temporal) compared[at] = queries[at] as number;
  }
  return compared;
}

const weighCoordinates = ({ dimensions, weights }: TrajectoryOptions): number[] => [
  ...listCoordinateWeights(dimensions, weights as Record<string, number>),
];

/** Trajectory distances of a batch by tensors. */
export function measureBatch(frames: QueryFrames, batch: PoolBatch, options: TrajectoryOptions): tf.Tensor2D {
  const { dimensions } = options;
  const shape: [number, number, number] = [batch.count, batch.pool.width, dimensions];
  const queries = sliceBatch(frames.queries, batch, dimensions);
  const candidates = sliceBatch(frames.candidates, batch, dimensions);
  const compared = keepCompared(candidates, queries, sliceBatch(frames.coldStart, batch), frames.names);
  const weights = tf.tensor1d(weighCoordinates(options));
  return trajectoryDistance(tf.tensor3d(compared, shape), tf.tensor3d(queries, shape), weights);
}

/** Distances by the frames that they compare, and by their weights. */
const measured = new WeakMap<QueryFrames, Map<string, Promise<Column>>>();

/** Trajectory distance of every pair, which the trajectory score and TPO share. */
export function measureDistances(pool: PoolRows, frames: QueryFrames, options: TrajectoryOptions): Promise<Column> {
  const known = getOrCompute(measured, frames, () => new Map<string, Promise<Column>>());
  const weights = weighCoordinates(options);
  return getOrCompute(known, weights.join(), async () =>
    (await computesOnHost())
      ? computeHostColumn(pool, fillDistances(frames, weights))
      : computeColumn(pool, (batch) => measureBatch(frames, batch, options)),
  );
}

/** exp(-D / sigma) of every pair. */
export async function computeTrajectory(
  pool: PoolRows,
  frames: QueryFrames,
  options: TrajectoryOptions,
): Promise<Column> {
  const distances = await measureDistances(pool, frames, options);
  if (await computesOnHost()) return computeHostColumn(pool, fillTrajectory(distances, options.sigma));
  return computeColumn(pool, (batch) => trajectoryScore(uploadBatch(distances, batch), options.sigma));
}
