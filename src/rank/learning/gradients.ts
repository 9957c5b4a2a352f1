import * as tf from '@tensorflow/tfjs-core';

/** Sums a gradient over the axes that an operand was repeated along. Axis by axis: a float32 sum of millions of terms in one go is biased. */
function reduceTo(gradient: tf.Tensor, shape: number[]): tf.Tensor {
  const axes = tf.broadcast_util.getReductionAxes(shape, gradient.shape);
  const sum = [...axes].sort((a, b) => b - a).reduce((partial, axis) => tf.sum(partial, axis), gradient);
  return tf.reshape(sum, shape);
}

type Gradient = Parameters<typeof tf.registerGradient>[0];
type Operands = readonly [tf.Tensor, tf.Tensor];

function defineBinaryGradient(
  kernelName: string,
  slopes: (a: tf.Tensor, b: tf.Tensor) => Record<'a' | 'b', (dy: tf.Tensor) => tf.Tensor>,
): Gradient {
  return {
    kernelName,
    inputsToSave: ['a', 'b'],
    gradFunc: (dy, saved) => {
      const [a, b] = saved as unknown as Operands;
      const by = slopes(a, b);
      const total = dy as tf.Tensor;
      return { a: () => reduceTo(by.a(total), a.shape), b: () => reduceTo(by.b(total), b.shape) };
    },
  };
}

function defineUnaryGradient(
  kernelName: string,
  saves: 'input' | 'output',
  slope: (dy: tf.Tensor, saved: tf.Tensor) => tf.Tensor,
): Gradient {
  return {
    kernelName,
    ...(saves === 'input' ? { inputsToSave: ['x'] } : { outputsToSave: [true] }),
    gradFunc: (dy, [saved]) => ({ x: () => slope(dy as tf.Tensor, saved as tf.Tensor) }),
  };
}

const GRADIENTS: readonly Gradient[] = [
  defineBinaryGradient('Add', () => ({ a: (dy) => dy, b: (dy) => dy })),
  defineBinaryGradient('Sub', () => ({ a: (dy) => dy, b: (dy) => tf.neg(dy) })),
  defineBinaryGradient('Multiply', (a, b) => ({ a: (dy) => tf.mul(dy, b), b: (dy) => tf.mul(dy, a) })),
  defineBinaryGradient('RealDiv', (a, b) => ({
    a: (dy) => tf.div(dy, b),
    b: (dy) => tf.neg(tf.div(tf.mul(dy, a), tf.mul(b, b))),
  })),
  defineUnaryGradient('Exp', 'output', (dy, y) => tf.mul(dy, y)),
  defineUnaryGradient('Sqrt', 'output', (dy, y) => tf.div(tf.mul(dy, 0.5), y)),
  {
    kernelName: 'Sum',
    inputsToSave: ['x'],
    gradFunc: (dy, saved, attributes) => {
      const [x] = saved as unknown as readonly [tf.Tensor];
      const axes = tf.util.parseAxisParam((attributes as unknown as { axis: number[] }).axis, x.shape);
      const kept = x.shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
      return { x: () => tf.mul(tf.reshape(dy as tf.Tensor, kept), tf.ones(x.shape)) };
    },
  },
];

/**
 * Registers the gradients that models need in tfjs; its own come only with tfjs-layers, since tfjs-core does not register them in Node. Those that somebody
 * registered before stay.
 */
export function registerGradients(): void {
  for (const gradient of GRADIENTS)
    if (tf.getGradient(gradient.kernelName) === undefined) tf.registerGradient(gradient);
}
