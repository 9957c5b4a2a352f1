import * as tf from '@tensorflow/tfjs-core';
import type { TensorOps } from '../core/tensor-op.harness.ts';
import { agesInHours, timeDecay } from './time-decay.ts';
import { pairwiseTrajectoryDistance, trajectoryDistance } from './trajectory-distance.ts';

const points = () => tf.tensor3d([0, 1, 2, 3, 3, 3], [1, 2, 3]);
const rows = () => tf.tensor2d([0, 1, 2, 3, 3, 3], [2, 3]);
const ones = (size: number): tf.Tensor1D => tf.ones([size]);
const HOUR = 3_600_000;

export const TENSOR_OPS: TensorOps = {
  trajectoryDistance: {
    use: (own) => trajectoryDistance(own(points()), own(tf.zeros([1, 1, 3])), own(ones(3))),
    refuses: [
      [(own) => trajectoryDistance(own(points()), own(points()), own(ones(5))), /shape of weights/],
      [(own) => trajectoryDistance(own(points()), own(tf.zeros([1, 3, 3])), own(ones(3))), /shape of queries/],
    ],
    edges: {
      duplicates: [(own) => trajectoryDistance(own(points()), own(points()), own(ones(3))), [0, 0]],
      'zero vectors': [(own) => trajectoryDistance(own(points()), own(points()), own(tf.tensor1d([0, 0, 0]))), [0, 0]],
    },
  },
  pairwiseTrajectoryDistance: {
    use: (own) => pairwiseTrajectoryDistance(own(rows()), own(rows()), own(ones(3))),
    refuses: [[(own) => pairwiseTrajectoryDistance(own(rows()), own(rows()), own(ones(2))), /shape of weights/]],
    edges: {
      'one turn': [(own) => pairwiseTrajectoryDistance(own(tf.ones([1, 3])), own(tf.ones([1, 3])), own(ones(3))), [0]],
    },
  },
  timeDecay: {
    use: (own) => timeDecay(own(rows()), 24),
    refuses: [[(own) => timeDecay(own(rows()), 0), /half-life is not positive: 0/]],
    edges: { 'one turn': [(own) => timeDecay(own(tf.zeros([1, 1])), 24), [1]] },
  },
  agesInHours: {
    use: () => agesInHours(Float64Array.of(0, HOUR), Float64Array.of(3 * HOUR), Int32Array.of(1, 0)),
    refuses: [],
    edges: {
      'all masked': [() => agesInHours(Float64Array.of(0), Float64Array.of(HOUR), Int32Array.of(-1, -1)), [0, 0]],
      'one turn': [() => agesInHours(Float64Array.of(0), Float64Array.of(HOUR), Int32Array.of(0)), [1]],
    },
  },
};
