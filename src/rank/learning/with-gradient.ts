import * as tf from '@tensorflow/tfjs-core';

/** A step whose gradient is written out instead of being put together of its parts. */
interface Step<Y extends tf.Tensor, G> {
  readonly value: Y;
  /** The intermediate tensors that the gradient needs; others are disposed before. Wasm copies them. */
  readonly saved: tf.Tensor[];
  /** The gradient by the inputs, of their shapes, from that by the value. */
  readonly gradient: (dy: Y, saved: tf.Tensor[]) => G;
}

/** Computes a step of a differentiable function of several inputs. */
export function withGradients<X extends tf.Tensor[], Y extends tf.Tensor>(
  inputs: X,
  step: (...inputs: X) => Step<Y, tf.Tensor[]>,
): Y {
  const op = tf.customGrad<Y>((...given) => {
    const save = given.pop() as tf.GradSaveFunc;
    const { value, saved, gradient } = step(...(given as X));
    save(saved);
    return { value, gradFunc: gradient };
  });
  return op(...inputs);
}

/** Computes a step of a differentiable function of `x`. */
export function withGradient<X extends tf.Tensor, Y extends tf.Tensor>(x: X, step: (x: X) => Step<Y, tf.Tensor>): Y {
  return withGradients([x], (given) => {
    const { gradient, ...rest } = step(given as X);
    return { ...rest, gradient: (dy: Y, saved: tf.Tensor[]) => [gradient(dy, saved)] };
  });
}
