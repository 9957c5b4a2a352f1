import * as tf from '@tensorflow/tfjs-core';
import type { TensorOps } from '../../core/tensors/tensor-op.harness.ts';
import { computeConservationTensors, computeSetConservation } from './conservation-tensors.ts';

const uploadPairRows = (...numbers: number[]) => tf.tensor2d(numbers, [numbers.length / 2, 2]);
/** One set. */
const uploadSet = (...numbers: number[]) => tf.tensor3d(numbers, [1, numbers.length / 2, 2]);
const listFigureTensors = (embeddings: tf.Tensor2D, salience: tf.Tensor1D) => {
  const { magnitude, energy, information } = computeConservationTensors(embeddings, salience);
  return [magnitude, energy, information];
};

export const TENSOR_OPS: TensorOps = {
  computeConservationTensors: {
    use: (own) => computeConservationTensors(own(uploadPairRows(1, 0, 3, 4)), own(tf.tensor1d([1, 2]))),
    refuses: [
      [(own) => computeConservationTensors(own(uploadPairRows(1, 0)), own(tf.ones([2]))), /shape of salience/],
      [
        (own) => computeConservationTensors(own(tf.zeros([10_007, 1])), own(tf.ones([10_007]))),
        /10007 records are more than 10000/,
      ],
    ],
    edges: {
      'zero vectors': [
        (own) => listFigureTensors(own(uploadPairRows(0, 0, 0, 0)), own(tf.ones([2]))),
        [0, 0, Math.LN2],
      ],
      duplicates: [(own) => listFigureTensors(own(uploadPairRows(3, 4, 3, 4)), own(tf.ones([2]))), [5, 0.5, Math.LN2]],
      'one turn': [(own) => listFigureTensors(own(uploadPairRows(3, 4)), own(tf.tensor1d([7]))), [5, 0.5, 0]],
      'all masked': [(own) => listFigureTensors(own(uploadPairRows(3, 4, 1, 1)), own(tf.zeros([2]))), [0, 0, 0]],
    },
  },
  computeSetConservation: {
    use: (own) => computeSetConservation(own(uploadSet(1, 0, 3, 4)), own(tf.tensor2d([[1, 2]]))),
    refuses: [
      [(own) => computeSetConservation(own(uploadSet(1, 0)), own(tf.ones([1, 2]))), /shape of salience/],
      [
        (own) => computeSetConservation(own(tf.zeros([1, 10_007, 1])), own(tf.ones([1, 10_007]))),
        /10007 records are more than 10000/,
      ],
    ],
    edges: {
      'zero vectors': [
        (own) => computeSetConservation(own(uploadSet(0, 0, 0, 0)), own(tf.ones([1, 2]))),
        [0, 0, Math.LN2],
      ],
      duplicates: [
        (own) => computeSetConservation(own(uploadSet(3, 4, 3, 4)), own(tf.ones([1, 2]))),
        [5, 0.5, Math.LN2],
      ],
      'one turn': [(own) => computeSetConservation(own(uploadSet(3, 4)), own(tf.tensor2d([[7]]))), [5, 0.5, 0]],
      'all masked': [(own) => computeSetConservation(own(uploadSet(3, 4, 1, 1)), own(tf.zeros([1, 2]))), [0, 0, 0]],
    },
  },
};
