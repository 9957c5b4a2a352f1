import * as tf from '@tensorflow/tfjs-core';
import { scoped } from '../../core/tensors/scope.ts';
import { type ConstraintName, countParameters, type Parametric } from './parameters.ts';

/** A parameter on the device, and the gradient by its free numbers from that by its values. [labels] each */
interface ConstrainedTensor {
  readonly values: tf.Tensor1D;
  pullBack(gradient: tf.Tensor1D): tf.Tensor1D;
}

/** `ln (1 + e^x)` */
function softplus(x: tf.Tensor1D): tf.Tensor1D {
  return tf.add(tf.relu(x), tf.log1p(tf.exp(tf.neg(tf.abs(x)))));
}

/** The constraints of parameters.ts as tensors, for free numbers that stay on the device. */
const CONSTRAINTS_ON_DEVICE: Readonly<Record<ConstraintName, (theta: tf.Tensor1D) => ConstrainedTensor>> = {
  free: (theta) => ({ values: theta, pullBack: (gradient) => gradient }),
  positive: (theta) => ({ values: softplus(theta), pullBack: (gradient) => tf.mul(tf.sigmoid(theta), gradient) }),
  unit: (theta) => {
    const values: tf.Tensor1D = tf.sigmoid(theta);
    return { values, pullBack: (gradient) => tf.mul(tf.mul(values, tf.sigmoid(tf.neg(theta))), gradient) };
  },
  simplex: (theta) => {
    const values: tf.Tensor1D = tf.softmax(theta);
    const pullBack = (gradient: tf.Tensor1D): tf.Tensor1D =>
      tf.mul(values, tf.sub(gradient, tf.sum(tf.mul(values, gradient))));
    return { values, pullBack };
  },
};

/** All parameters of a model on the device. */
interface ConstrainedTensors {
  /** A vector for each parameter, in the order of the model. */
  readonly values: tf.Tensor1D[];
  /** [P] the gradient by the free numbers. @param gradients by the values, in their shapes. */
  pullBack(gradients: readonly tf.Tensor[]): tf.Tensor1D;
}

/** The values that free numbers stand for. Its tensors belong to the scope around it. @param theta [P] */
export function constrainTensors(model: Parametric, theta: tf.Tensor1D): ConstrainedTensors {
  const sizes = model.parameters.map(({ labels }) => labels.length);
  const parts = countParameters(model) === sizes[0] ? [theta] : tf.split(theta, sizes);
  const constrained = model.parameters.map(({ constraint }, i) =>
    CONSTRAINTS_ON_DEVICE[constraint](parts[i] as tf.Tensor1D),
  );
  return {
    values: constrained.map(({ values }) => values),
    pullBack: (gradients) =>
      scoped('constrainTensors', () =>
        tf.concat(constrained.map(({ pullBack }, i) => pullBack(gradients[i] as tf.Tensor1D))),
      ),
  };
}
