import * as tf from '@tensorflow/tfjs-core';
import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { computeAgesHours, timeDecay } from './time-decay.ts';
import { pairwiseTrajectoryDistance, trajectoryDistance } from './trajectory-distance.ts';

const uploadPoints = () => tf.tensor3d([0, 1, 2, 3, 3, 3], [1, 2, 3]);
const uploadCoordinateRows = () => tf.tensor2d([0, 1, 2, 3, 3, 3], [2, 3]);
const createOnes = (size: number): tf.Tensor1D => tf.ones([size]);
const HOUR_MILLISECONDS = 3_600_000;

export const TENSOR_OPS: TensorOps = {
  trajectoryDistance: {
    use: (own) => trajectoryDistance(own(uploadPoints()), own(tf.zeros([1, 1, 3])), own(createOnes(3))),
    refuses: [
      [(own) => trajectoryDistance(own(uploadPoints()), own(uploadPoints()), own(createOnes(5))), /shape of weights/],
      [
        (own) => trajectoryDistance(own(uploadPoints()), own(tf.zeros([1, 3, 3])), own(createOnes(3))),
        /shape of queries/,
      ],
    ],
    edges: {
      duplicates: [(own) => trajectoryDistance(own(uploadPoints()), own(uploadPoints()), own(createOnes(3))), [0, 0]],
      'zero vectors': [
        (own) => trajectoryDistance(own(uploadPoints()), own(uploadPoints()), own(tf.tensor1d([0, 0, 0]))),
        [0, 0],
      ],
    },
  },
  pairwiseTrajectoryDistance: {
    use: (own) =>
      pairwiseTrajectoryDistance(own(uploadCoordinateRows()), own(uploadCoordinateRows()), own(createOnes(3))),
    refuses: [
      [
        (own) =>
          pairwiseTrajectoryDistance(own(uploadCoordinateRows()), own(uploadCoordinateRows()), own(createOnes(2))),
        /shape of weights/,
      ],
    ],
    edges: {
      'one turn': [
        (own) => pairwiseTrajectoryDistance(own(tf.ones([1, 3])), own(tf.ones([1, 3])), own(createOnes(3))),
        [0],
      ],
    },
  },
  timeDecay: {
    use: (own) => timeDecay(own(uploadCoordinateRows()), 24),
    refuses: [[(own) => timeDecay(own(uploadCoordinateRows()), 0), /half-life is not positive: 0/]],
    edges: { 'one turn': [(own) => timeDecay(own(tf.zeros([1, 1])), 24), [1]] },
  },
  computeAgesHours: {
    use: () =>
      computeAgesHours(
        Float64Array.of(0, HOUR_MILLISECONDS),
        Float64Array.of(3 * HOUR_MILLISECONDS),
        Int32Array.of(1, 0),
      ),
    refuses: [],
    edges: {
      'all masked': [
        () => computeAgesHours(Float64Array.of(0), Float64Array.of(HOUR_MILLISECONDS), Int32Array.of(-1, -1)),
        [0, 0],
      ],
      'one turn': [
        () => computeAgesHours(Float64Array.of(0), Float64Array.of(HOUR_MILLISECONDS), Int32Array.of(0)),
        [1],
      ],
    },
  },
};
