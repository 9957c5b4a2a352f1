import * as tf from '@tensorflow/tfjs-core';
import { batchedMatmul, matmul } from './matmul.ts';

/**
 * Sums a gradient over the axes that an operand was repeated along. Axis by axis: a float32 sum of millions of terms in
 * one go is biased.
 */
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

/** A gradient repeated over the axes of an input that a reduction has removed. */
function repeatOver(gradient: tf.Tensor, { shape }: tf.Tensor, attributes: object): tf.Tensor {
  const axes = tf.util.parseAxisParam((attributes as { readonly axis: number[] }).axis, shape);
  const kept = shape.map((size, axis) => (axes.includes(axis) ? 1 : size));
  return tf.mul(tf.reshape(gradient, kept), tf.ones(shape));
}

const transposeIf = (needed: boolean, x: tf.Tensor) =>
  needed ? tf.transpose(x, x.rank === 2 ? [1, 0] : [0, 2, 1]) : x;
const multiply = (a: tf.Tensor, b: tf.Tensor) =>
  a.rank === 2 ? matmul(a as tf.Tensor2D, b as tf.Tensor2D) : batchedMatmul(a as tf.Tensor3D, b as tf.Tensor3D);

/** The gradient of a product of two matrices, or of two batches of them, each transposed or not. */
const MATRIX_GRADIENT: Gradient = {
  kernelName: 'BatchMatMul',
  inputsToSave: ['a', 'b'],
  gradFunc: (dy, saved, attributes) => {
    const { transposeA, transposeB } = attributes as unknown as Record<'transposeA' | 'transposeB', boolean>;
    const [a, b] = saved as unknown as Operands;
    const total = dy as tf.Tensor;
    return {
      a: () => transposeIf(transposeA, multiply(total, transposeIf(!transposeB, b))),
      b: () => transposeIf(transposeB, multiply(transposeIf(!transposeA, a), total)),
    };
  },
};

const GRADIENTS: readonly Gradient[] = [
  defineBinaryGradient('Add', () => ({ a: (dy) => dy, b: (dy) => dy })),
  defineBinaryGradient('Sub', () => ({ a: (dy) => dy, b: (dy) => tf.neg(dy) })),
  defineBinaryGradient('Multiply', (a, b) => ({ a: (dy) => tf.mul(dy, b), b: (dy) => tf.mul(dy, a) })),
  defineBinaryGradient('RealDiv', (a, b) => ({
    a: (dy) => tf.div(dy, b),
    b: (dy) => tf.neg(tf.div(tf.mul(dy, a), tf.mul(b, b))),
  })),
  MATRIX_GRADIENT,
  defineUnaryGradient('Exp', 'output', (dy, y) => tf.mul(dy, y)),
  defineUnaryGradient('Square', 'input', (dy, x) => tf.mul(dy, tf.mul(x, 2))),
  defineUnaryGradient('Rsqrt', 'output', (dy, y) => tf.mul(dy, tf.mul(tf.mul(tf.square(y), y), -0.5))),
  defineUnaryGradient('Erf', 'input', (dy, x) =>
    tf.mul(dy, tf.mul(tf.exp(tf.neg(tf.square(x))), 2 / Math.sqrt(Math.PI))),
  ),
  {
    kernelName: 'Softmax',
    outputsToSave: [true],
    gradFunc: (dy, [y]) => {
      const weighed = tf.mul(dy as tf.Tensor, y as tf.Tensor);
      return { logits: () => tf.sub(weighed, tf.mul(tf.sum(weighed, -1, true), y as tf.Tensor)) };
    },
  },
  {
    kernelName: 'Reshape',
    inputsToSave: ['x'],
    gradFunc: (dy, [x]) => ({ x: () => tf.reshape(dy as tf.Tensor, (x as tf.Tensor).shape) }),
  },
  {
    kernelName: 'Transpose',
    gradFunc: (dy, _, attributes) => {
      const { perm } = attributes as unknown as { readonly perm: readonly number[] };
      const back = perm.map((_axis, axis) => perm.indexOf(axis));
      return { x: () => tf.transpose(dy as tf.Tensor, back) };
    },
  },
  {
    kernelName: 'Concat',
    saveAllInputs: true,
    gradFunc: (dy, saved, attributes) => {
      const inputs = saved as unknown as readonly tf.Tensor[];
      const [axis = 0] = tf.util.parseAxisParam((attributes as unknown as { axis: number }).axis, inputs[0]!.shape);
      const sizes = inputs.map(({ shape }) => shape[axis] as number);
      return Object.fromEntries(tf.split(dy as tf.Tensor, sizes, axis).map((part, i) => [i, () => part]));
    },
  },
  {
    kernelName: 'SplitV',
    gradFunc: (dy, _, attributes) => ({
      x: () => tf.concat(dy as unknown as tf.Tensor[], (attributes as unknown as { axis: number }).axis),
    }),
  },
  {
    kernelName: 'Slice',
    inputsToSave: ['x'],
    gradFunc: (dy, saved, attributes) => {
      const [x] = saved as unknown as readonly [tf.Tensor];
      const total = dy as tf.Tensor;
      const begin = [attributes.begin as unknown as number | number[]].flat();
      const paddings = x.shape.map((size, axis): [number, number] => {
        const before = begin[axis] ?? 0;
        return [before, size - before - (total.shape[axis] as number)];
      });
      return { x: () => tf.pad(total, paddings) };
    },
  },
  {
    kernelName: 'Mean',
    inputsToSave: ['x'],
    gradFunc: (dy, saved, attributes) => {
      const [x] = saved as unknown as readonly [tf.Tensor];
      const total = dy as tf.Tensor;
      return { x: () => repeatOver(tf.mul(total, total.size / x.size), x, attributes) };
    },
  },
  defineUnaryGradient('Sqrt', 'output', (dy, y) => tf.div(tf.mul(dy, 0.5), y)),
  {
    kernelName: 'Sum',
    inputsToSave: ['x'],
    gradFunc: (dy, saved, attributes) => {
      const [x] = saved as unknown as readonly [tf.Tensor];
      return { x: () => repeatOver(dy as tf.Tensor, x, attributes) };
    },
  },
];

/**
 * Registers the gradients that models need in tfjs; its own come only with tfjs-layers, since tfjs-core does not
 * register them in Node. Those that somebody registered before stay.
 */
export function registerGradients(): void {
  for (const gradient of GRADIENTS)
    if (tf.getGradient(gradient.kernelName) === undefined) tf.registerGradient(gradient);
}
