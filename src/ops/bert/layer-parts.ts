import * as tf from '@tensorflow/tfjs-core';
import { batchedMatmul } from '../../core/tensors/matmul.ts';
import { scoped } from '../../core/tensors/scope.ts';

/** Scale and shift of a normalisation, [D] each. */
export type Norm = {
  readonly scale: tf.Tensor1D;
  readonly shift: tf.Tensor1D;
};

/** The parts of a layer besides its products. A product has no bias: the part after it adds it. */
export interface LayerParts {
  /** Attention of every piece over all pieces of its text, by head. @param x [B T, 3 D] @returns [B T, D] */
  attend(x: tf.Tensor2D, bias: tf.Tensor1D, heads: number, length: number): tf.Tensor2D;
  /** t (1 + erf(t / sqrt 2)) / 2 of t = x + bias. Hendrycks, Gimpel 2016, "Gaussian Error Linear Units". */
  gelu(x: tf.Tensor2D, bias: tf.Tensor1D): tf.Tensor2D;
  /**
   * (t - mean) / sqrt(variance + eps) * scale + shift by row, of t = x + bias + beside. Ba et al. 2016, "Layer
   * Normalization".
   *
   * @param x [R, D]
   */
  normalise(x: tf.Tensor2D, bias: tf.Tensor1D, beside: tf.Tensor2D, norm: Norm, epsilon: number): tf.Tensor2D;
}

/** {@link LayerParts.normalise} of x alone. */
export function normaliseRows(x: tf.Tensor2D, { scale, shift }: Norm, epsilon: number): tf.Tensor2D {
  return scoped('normaliseRows', () => {
    const centred = tf.sub(x, tf.mean(x, 1, true));
    const variance = tf.mean(tf.square(centred), 1, true);
    return tf.add(tf.mul(tf.mul(centred, tf.rsqrt(tf.add(variance, epsilon))), scale), shift);
  });
}

/** On every backend, and differentiable. */
export const TENSOR_PARTS: LayerParts = {
  attend: (x, bias, heads, length) =>
    scoped('attend', () => {
      const [rows, columns] = x.shape;
      const batch = rows / length;
      const size = columns / 3 / heads;
      // [B, T, 3, H, d] to [3, B, H, T, d]
      const parts = tf.transpose(tf.reshape(tf.add(x, bias), [batch, length, 3, heads, size]), [2, 0, 3, 1, 4]);
      const [query, key, value] = tf
        .split(tf.reshape(parts, [3, batch * heads, length, size]), 3)
        .map((part) => tf.reshape(part, [batch * heads, length, size]) as tf.Tensor3D) as [
        tf.Tensor3D,
        tf.Tensor3D,
        tf.Tensor3D,
      ];
      const logits = tf.mul(batchedMatmul(query, tf.transpose(key, [0, 2, 1])), 1 / Math.sqrt(size));
      const mixed = batchedMatmul(tf.softmax(logits) as tf.Tensor3D, value); // [B H, T, d]
      const joined = tf.transpose(tf.reshape(mixed, [batch, heads, length, size]), [0, 2, 1, 3]);
      return tf.reshape(joined, [rows, columns / 3]);
    }),
  gelu: (x, bias) =>
    scoped('gelu', () => {
      const t = tf.add(x, bias);
      return tf.mul(tf.mul(t, 0.5), tf.add(tf.erf(tf.mul(t, Math.SQRT1_2)), 1));
    }),
  normalise: (x, bias, beside, norm, epsilon) =>
    scoped('normalise', () => normaliseRows(tf.add(tf.add(x, bias), beside), norm, epsilon)),
};
