import * as tf from '@tensorflow/tfjs-core';
import { ValidationError } from '../../core/errors/errors.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { MASKED } from '../../ops/attention/options.ts';
import type { FeatureTable } from './feature-table.ts';
import { withGradient } from './linear-model.ts';

/**
 * `infonce`: each relevant candidate against all irrelevant ones, `-ln e^(s/T) / (e^(s/T) + sum_n e^(s_n/T))`, the mean over a query's relevant ones
 * (vandenoord2018cpc). `listwise`: cross-entropy of softmax(s/T) against the grades' shares, grade / sum of grades (cao2007listnet with grades for exponentials).
 */
export interface LossOptions {
  readonly name: 'infonce' | 'listwise';
  /** T. */
  readonly temperature: number;
}

/** The targets of the scores. The tensors belong to the caller. */
export interface LossTargets {
  /** [B, C] of the relevant candidates; a row sums to 1, or is all zeros if the query is not informative. */
  readonly shares: tf.Tensor2D;
  /** [B, C] 0 for candidates that the relevant ones stand against, and with `listwise` for these too; {@link MASKED} for all else. */
  readonly masks: tf.Tensor2D;
  /** [B] 1 for queries that take part. */
  readonly used: Float32Array;
}

/** Shares of a row's targets and the candidates in its denominator; false if there is nothing to distinguish. */
function fillRow(
  table: FeatureTable,
  query: number,
  name: LossOptions['name'],
  shares: Float32Array,
  masks: Float32Array,
): boolean {
  const { width, mask, grades, relevantGrade } = table;
  const start = query * width;
  let sum = 0;
  let against = 0;
  for (let pair = start; pair < start + width; pair++) {
    if (mask[pair] === 0) continue;
    const grade = grades[pair] as number;
    const isRelevant = grade >= relevantGrade;
    const weight = name === 'infonce' ? Number(isRelevant) : Math.max(grade, 0);
    shares[pair] = weight;
    sum += weight;
    if (name === 'listwise' || !isRelevant) masks[pair] = 0;
    against += weight === 0 ? 1 : 0;
  }
  const isUsed = sum > 0 && (name === 'listwise' || against > 0);
  for (let pair = start; pair < start + width; pair++) shares[pair] = isUsed ? shares[pair]! / sum : 0;
  return isUsed;
}

/** Queries that take part: those with a relevant candidate in their pool, and with `infonce` another beside it. */
export function listUsableQueries(table: FeatureTable, { name }: Pick<LossOptions, 'name'>): Int32Array {
  const shares = new Float32Array(table.mask.length);
  const masks = new Float32Array(table.mask.length);
  return Int32Array.from(table.queryIds.keys()).filter((query) => fillRow(table, query, name, shares, masks));
}

/**
 * The targets of a table's queries. A query without a relevant candidate in its pool, or with `infonce` without another beside it, takes no part.
 *
 * @throws ValidationError for a temperature that is not positive, or if no query takes part.
 */
export function uploadLossTargets(table: FeatureTable, { name, temperature }: LossOptions): LossTargets {
  if (!(temperature > 0))
    throw new ValidationError(`temperature of the loss is not positive: ${temperature}; pass a number above 0`);
  const shares = new Float32Array(table.mask.length);
  const masks = new Float32Array(table.mask.length).fill(MASKED);
  const used = Float32Array.from(table.queryIds, (_, query) => Number(fillRow(table, query, name, shares, masks)));
  const shape: [number, number] = [table.queryIds.length, table.width];
  if (!used.includes(1))
    throw new ValidationError(
      `none of ${used.length} queries has a relevant candidate to learn from; add queries or candidates`,
    );
  return scoped('uploadLossTargets', () => ({
    shares: tf.tensor2d(shares, shape),
    masks: tf.tensor2d(masks, shape),
    used,
  }));
}

/** Softmax of a row's admissible places, and ln of the sum of their powers, without an exponential or a logarithm a pair, which wasm is slow at. */
function computeMaskedSoftmax(
  logits: tf.Tensor2D,
  masks: tf.Tensor2D,
): { readonly shares: tf.Tensor2D; readonly logSum: tf.Tensor2D } {
  const masked: tf.Tensor2D = tf.add(logits, masks); // [B, C]
  const shares = tf.softmax(masked) as tf.Tensor2D;
  return { shares, logSum: tf.sub(tf.max(masked, 1, true), tf.log(tf.max(shares, 1, true))) };
}

/** `ln (1 + e^x)` by the sigmoid, which wasm computes ten times as fast as a softplus. */
function softplus(x: tf.Tensor): tf.Tensor {
  return tf.sub(tf.relu(x), tf.log(tf.sigmoid(tf.abs(x))));
}

interface ValueAndSlope {
  /** [B, 1] */
  readonly value: tf.Tensor2D;
  /** [B, C] of the value by the logits. */
  readonly slope: tf.Tensor2D;
}

/** `ln sum_n e^l_n - sum_p t_p l_p` and `softmax(l) - t`. */
function listwise(logits: tf.Tensor2D, { shares, masks }: LossTargets): ValueAndSlope {
  const predicted = computeMaskedSoftmax(logits, masks);
  const isUsed = tf.sum(shares, 1, true); // [B, 1]
  const below: tf.Tensor2D = tf.sub(predicted.logSum, logits); // [B, C] -ln of each prediction
  return {
    value: tf.sum(tf.mul(shares, below), 1, true),
    slope: tf.sub(tf.mul(predicted.shares, isUsed), shares),
  };
}

/** `sum_p t_p softplus(n - l_p)` with n = ln sum_n e^l_n over the negatives. */
function infoNce(logits: tf.Tensor2D, { shares, masks }: LossTargets): ValueAndSlope {
  const negatives = computeMaskedSoftmax(logits, masks);
  const ahead: tf.Tensor2D = tf.sub(negatives.logSum, logits); // [B, C]
  const doubts: tf.Tensor2D = tf.mul(shares, tf.sigmoid(ahead)); // [B, C] the remainder of each relevant candidate
  return {
    value: tf.sum(tf.mul(shares, softplus(ahead)), 1, true),
    slope: tf.sub(tf.mul(negatives.shares, tf.sum(doubts, 1, true)), doubts),
  };
}

const LOSSES = { listwise, infonce: infoNce };

/**
 * The loss of each query; 0 for one that takes no part. Differentiable by the scores.
 *
 * @param scores [B, C]
 * @param targets of the same table and name
 * @returns [B]
 */
export function computeQueryLosses(
  scores: tf.Tensor2D,
  targets: LossTargets,
  { name, temperature }: LossOptions,
): tf.Tensor1D {
  const sizes = assertShape('scores', scores, 'B C');
  assertShape('targets', targets.shares, 'B C', sizes);
  const [queries] = scores.shape;
  return scoped('computeQueryLosses', () =>
    withGradient(scores, (given) => {
      const { value, slope } = LOSSES[name](temperature === 1 ? given : tf.mul(given, 1 / temperature), targets);
      return {
        value: tf.reshape(value, [queries]) as tf.Tensor1D,
        saved: [slope],
        gradient: (dy, [saved]) => tf.mul(saved as tf.Tensor, tf.mul(tf.reshape(dy, [queries, 1]), 1 / temperature)),
      };
    }),
  );
}
