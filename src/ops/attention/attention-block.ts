import * as tf from '@tensorflow/tfjs-core';
import { prefersPlainProducts } from '../../core/tensors/backend.ts';
import { matmul, matmulTransposed } from '../../core/tensors/matmul.ts';
import { readBack } from '../../core/tensors/scope.ts';
import type { LogitTerms } from './options.ts';

/** R queries against C keys, all on the host and row-major. */
export interface AttentionBlock {
  /** [R, D] of length 1, or 0. */
  readonly queries: Float32Array;
  /** [C, D] of length 1, or 0. */
  readonly keys: Float32Array;
  /** [C, V] */
  readonly values: Float32Array;
  /** [R, C] */
  readonly terms: LogitTerms;
}

/** The contribution of a block to a softmax, row-major [R, V + 2]: weighted values, their mass, both scaled by exp(-largest), and the largest logit. */
export type BlockMass = Float32Array;

/**
 * The cost of one more block in calls, copies and packing, and of one more cell besides its products, both in multiply-adds. Of wasm they are
 * measured; devices that are a hundred times as fast and called as slowly want blocks ten times as large.
 */
const BLOCK_COST = { plain: 2 ** 21, batched: 2 ** 28 };
const CELL_COST = 128;

/**
 * Turns in a block of a band or of several conversations: more of them waste products on keys of no row's band, or of
 * other conversations; fewer pay for more blocks.
 */
export function chooseBlockRows(dimension: number): number {
  const cost = prefersPlainProducts() ? BLOCK_COST.plain : BLOCK_COST.batched;
  return 2 ** Math.round(Math.log2(Math.sqrt(cost / (dimension + CELL_COST))));
}

/**
 * The powers minus exp(-largest), the power of a logit of 0. A factor makes the difference exactly 0 there: libtensorflow may round the exponentials of a matrix
 * and of a column differently, and the last bits would add up over many keys. A block on wasm takes 2 to 4 % longer with the factor, 1.1 to 3.5 times as long
 * with `tf.where`.
 *
 * @param logits [R, C]
 * @param powers exp(logits - largest), [R, C]
 * @param largest [R, 1]
 * @returns [R, C]
 */
function subtractBaseline(logits: tf.Tensor2D, powers: tf.Tensor2D, largest: tf.Tensor2D): tf.Tensor2D {
  const isNotZero = tf.step(tf.abs(logits)); // [R, C]
  return tf.mul(tf.sub(powers, tf.exp(tf.neg(largest))), isNotZero);
}

function sumBlockMass(block: AttentionBlock, baseline: 0 | 1): tf.Tensor2D {
  const columns = block.terms.columns;
  const rows = block.terms.slope.length / columns;
  const uploadBlockMatrix = (numbers: Float32Array, count: number) =>
    tf.tensor2d(numbers, [count, numbers.length / count]);
  const cosine = matmulTransposed(uploadBlockMatrix(block.queries, rows), uploadBlockMatrix(block.keys, columns)); // [R, C]
  const scaled = tf.mul(cosine, uploadBlockMatrix(block.terms.slope, rows));
  const logits: tf.Tensor2D = tf.add(scaled, uploadBlockMatrix(block.terms.offset, rows));
  const largest: tf.Tensor2D = tf.max(logits, 1, true); // [R, 1]
  const powers: tf.Tensor2D = tf.exp(tf.sub(logits, largest)); // [R, C]
  const weights = baseline === 0 ? powers : subtractBaseline(logits, powers, largest); // [R, C]
  const mass: tf.Tensor2D = tf.sum(weights, 1, true); // [R, 1]
  return tf.concat([matmul(weights, uploadBlockMatrix(block.values, columns)), mass, largest], 1);
}

/**
 * Attention of a block, O(R C (D + V)) in two plain products.
 *
 * @param baseline subtracted from each power: 1 if all keys count e^0 and the block holds only the excess, else 0
 */
export function computeAttentionBlock(block: AttentionBlock, baseline: 0 | 1): Promise<BlockMass> {
  return readBack('computeAttentionBlock', () => sumBlockMass(block, baseline));
}
