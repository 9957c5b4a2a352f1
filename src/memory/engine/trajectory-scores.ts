import * as tf from '@tensorflow/tfjs-core';
import { readBack } from '../../core/tensors/read-back.ts';
import type { RecordTrajectory } from '../../model/turns/memory-record.ts';
import { COORDINATES, listCoordinateWeights } from '../../ops/trajectory/coordinate-names.ts';
import { trajectoryDistance } from '../../ops/trajectory/trajectory-distance.ts';

function listCoordinates(trajectory: RecordTrajectory): number[] {
  return COORDINATES[5].map((name) => trajectory[name as keyof RecordTrajectory]);
}

/**
 * exp(-D) with the distance D of coordinates (definition 4.2 of diomande2026ragpp, default weights).
 *
 * @returns [records] in (0, 1]; null for a record without a trajectory.
 */
export async function computeTrajectoryScores(
  query: RecordTrajectory,
  records: readonly (RecordTrajectory | null)[],
): Promise<(number | null)[]> {
  const known = records.filter((trajectory) => trajectory !== null);
  if (known.length === 0) return records.map(() => null);
  const scores = await readBack('computeTrajectoryScores', () => {
    const candidates = tf.tensor3d(known.flatMap(listCoordinates), [1, known.length, 5]);
    const distances = trajectoryDistance(
      candidates,
      tf.tensor3d(listCoordinates(query), [1, 1, 5]),
      tf.tensor1d(listCoordinateWeights(5)),
    );
    return tf.exp(tf.neg(distances));
  });
  let next = 0;
  return records.map((trajectory) => (trajectory === null ? null : (scores[next++] as number)));
}
