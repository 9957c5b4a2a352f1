import * as tf from '@tensorflow/tfjs-core';
import { randomisedSvd } from './linear/randomised-svd.ts';
import { activeBackend, probeBackends, useBackend } from './tensors/backend.ts';
import { batchedMatmul, matmul, matmulTransposed, normaliseRows } from './tensors/matmul.ts';
import { scoped } from './tensors/scope.ts';
import type { TensorOps } from './tensors/tensor-op.harness.ts';

const uploadSquare = () => tf.tensor2d([1, 2, 3, 4], [2, 2]);
const uploadSampleRow = () => tf.tensor2d([1, 2, 3], [1, 3]);
const uploadCube = () => tf.tensor3d([1, 2, 3, 4, 5, 6, 7, 8], [2, 2, 2]);

/** A diagonal matrix. */
const buildDiagonalMatrix = (values: readonly number[]) => ({
  rows: values.length,
  columns: values.length,
  offsets: Int32Array.from({ length: values.length + 1 }, (_, i) => i),
  columnOf: Int32Array.from(values.keys()),
  values: Float64Array.from(values),
});
const svd = { rank: 2, oversampling: 1, powerIterations: 2, seed: 1 };

export const TENSOR_OPS: TensorOps = {
  activeBackend: { use: () => [activeBackend()].length, refuses: [] },
  probeBackends: { use: () => probeBackends().length, refuses: [] },
  useBackend: {
    use: async () => [await useBackend(activeBackend())].length,
    refuses: [[() => useBackend('torch' as never), /unknown backend torch/]],
  },
  scoped: {
    use: (own) => {
      const a = own(uploadSquare());
      return scoped('sample', () => tf.add(tf.square(a), tf.sqrt(a)));
    },
    refuses: [
      [
        () => scoped('sample', () => Promise.resolve(tf.square(uploadSquare())) as never),
        /scope returned a promise: sample/,
      ],
      [(own) => scoped('sample', () => tf.matMul(tf.square(own(uploadSquare())), uploadSampleRow())), /./],
    ],
  },
  matmul: {
    use: (own) => matmul(own(uploadSquare()), own(uploadSquare())),
    refuses: [
      [(own) => matmul(own(uploadSquare()), own(uploadSampleRow())), /shape of b: expected \[D, K\] with T=2, D=2/],
    ],
    edges: { 'zero vectors': [(own) => matmul(own(uploadSquare()), own(tf.zeros([2, 1]))), [0, 0]] },
  },
  matmulTransposed: {
    use: (own) => matmulTransposed(own(uploadSquare()), own(uploadSquare())),
    refuses: [[(own) => matmulTransposed(own(uploadSquare()), own(uploadSampleRow())), /shape of b/]],
    edges: { 'one turn': [(own) => matmulTransposed(own(uploadSampleRow()), own(uploadSampleRow())), [14]] },
  },
  batchedMatmul: {
    use: (own) => batchedMatmul(own(uploadCube()), own(uploadCube())),
    refuses: [[(own) => batchedMatmul(own(uploadCube()), own(tf.zeros([2, 3, 2]))), /shape of b/]],
    edges: { 'one turn': [(own) => batchedMatmul(own(tf.ones([1, 1, 3])), own(tf.ones([1, 3, 1]))), [3]] },
  },
  normaliseRows: {
    use: (own) => normaliseRows(own(uploadSquare())),
    refuses: [[(own) => normaliseRows(own(tf.zeros([2, 3, 5])) as never), /shape of rows/]],
    edges: {
      'zero vectors': [(own) => normaliseRows(own(tf.tensor2d([0, 0, 3, 4], [2, 2]))), [0, 0, 0.6, 0.8]],
      'one turn': [(own) => normaliseRows(own(tf.tensor2d([0, -2], [1, 2]))), [0, -1]],
    },
  },
  randomisedSvd: {
    use: () => randomisedSvd(buildDiagonalMatrix([5, 3, 2]), svd),
    refuses: [
      [() => randomisedSvd(buildDiagonalMatrix([0, 0, 0]), svd), /^matrix has rank 0: 3 × 3; give/],
      [() => randomisedSvd(buildDiagonalMatrix([1e-30, 1e-30]), svd), /^matrix has rank 0: 2 × 2; give/], // squares are 0 in float32
      [() => randomisedSvd(buildDiagonalMatrix([]), svd), /^matrix has rank 0: 0 × 0; give/],
    ],
    edges: {
      duplicates: [async () => (await randomisedSvd(buildDiagonalMatrix([3, 3, 3]), svd)).singularValues, [3, 3]],
      'one turn': [() => randomisedSvd(buildDiagonalMatrix([7]), svd), [1, 7, 1]],
      'K > C': [
        async () => (await randomisedSvd(buildDiagonalMatrix([5, 2]), { ...svd, rank: 7 })).singularValues,
        [5, 2],
      ],
    },
  },
};
