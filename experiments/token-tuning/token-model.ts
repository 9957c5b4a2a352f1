import * as tf from '@tensorflow/tfjs-core';
import type { createRandom } from '../../src/core/numbers/random.ts';
import { registerGradients } from '../../src/core/tensors/gradients.ts';
import { matmul, matmulTransposed } from '../../src/core/tensors/matmul.ts';
import { readBack, scoped } from '../../src/core/tensors/scope.ts';
import { projectTokens } from '../../src/ops/late/token-projection.ts';
import type { FeatureTable } from '../../src/rank/learning/feature-table.ts';
import { computeQueryLosses, type LossOptions, uploadLossTargets } from '../../src/rank/learning/losses.ts';
import { computeValueAndGradients } from '../../src/rank/learning/objective.ts';
import { type Shapes, type TokenSpans, uploadArrays } from '../split-bert.ts';
import type { FloatRows } from './token-questions.ts';

/** Questions with the turns that they are compared with. B questions of J tokens together, N turns of S tokens. */
export interface TokenBatch {
  readonly turns: FloatRows;
  readonly questions: FloatRows;
  /** [J, D] frozen vectors of the questions' tokens, which the gate reads whatever the form makes of them. */
  readonly gated: Float32Array;
  /** [J] ln of the inverse document frequency of each token of the questions. */
  readonly logIdf: Float32Array;
  /** The turns of each question, with its grades: [B, N], without signals. */
  readonly table: FeatureTable;
  /** [N] positions of the turns, and [B] rows of the questions. */
  readonly positions: readonly number[];
  readonly queries: readonly number[];
}

type Random = ReturnType<typeof createRandom>;

/** Turns frozen vectors of tokens into those that are compared. */
export interface TokenForm {
  /** The shapes of its learned arrays. */
  readonly shapes: Shapes;
  /** The numbers that change nothing. */
  drawStart(random: Random): Float64Array;
  /** The places of turns among the rows that `embed` gives. */
  listSpans(batch: TokenBatch): TokenSpans;
  /** Differentiable by the arrays. @returns [R, D] and [J, D] rows of length 1. */
  embed(
    arrays: readonly tf.Tensor[],
    batch: TokenBatch,
  ): { readonly turns: tf.Tensor2D; readonly questions: tf.Tensor2D };
}

/**
 * A form with a gate: maxima by turn are standardised over the turns of each question and averaged over its tokens, by
 * weights idf exp(gate · q) that sum to 1; in the loss times exp(sharpness). With a gate of 0 and a form that changes
 * nothing this is the score `zidf`. Khattab, Zaharia 2020, "ColBERT".
 */
export interface TokenModel {
  readonly form: TokenForm;
  /** D. */
  readonly dimension: number;
}

/** The natural logarithm of the factor of scores at the start of a training. */
const SHARPNESS = Math.log(3);
/** Added to variances of maxima: far below those of tokens that differ. */
const EPSILON = 1e-8;
const LOSS: LossOptions = { name: 'listwise', temperature: 1 };
const OUTSIDE = -1e9;

const countShape = ([rows, columns]: readonly [number, number]) => rows * columns;

/** The number of learned numbers: those of the form, the gate, the sharpness. */
export function countNumbers({ form, dimension }: TokenModel): number {
  return form.shapes.reduce((sum, shape) => sum + countShape(shape), dimension + 1);
}

/** `projectTokens` of turns and questions alike; U is 0 at the start, and V random. */
export function createProjection(rank: number, dimension: number): TokenForm {
  const project = (rows: Pick<FloatRows, 'vectors'>, [up, down]: readonly tf.Tensor[]) =>
    scoped('project', () => {
      const x = tf.tensor2d(rows.vectors, [rows.vectors.length / dimension, dimension]);
      return projectTokens(x, up as tf.Tensor2D, down as tf.Tensor2D);
    });
  return {
    shapes: [
      [dimension, rank],
      [rank, dimension],
    ],
    drawStart: (random) =>
      Float64Array.from({ length: 2 * rank * dimension }, (_, i) =>
        i < rank * dimension ? 0 : random.drawNormal() / Math.sqrt(dimension),
      ),
    listSpans: ({ turns: { starts } }) => Array.from(starts.subarray(1), (end, turn) => [starts[turn]!, end]),
    embed: (arrays, { turns, questions }) => ({ turns: project(turns, arrays), questions: project(questions, arrays) }),
  };
}

interface SplitNumbers {
  readonly arrays: readonly Float32Array[];
  readonly gate: Float32Array;
  readonly sharpness: number;
}

/** The parts of the learned numbers. */
export function splitNumbers({ form, dimension }: TokenModel, theta: Float64Array): SplitNumbers {
  let at = 0;
  const take = (count: number) => {
    at += count;
    return Float32Array.from(theta.subarray(at - count, at));
  };
  const arrays = form.shapes.map((shape) => take(countShape(shape)));
  return { arrays, gate: take(dimension), sharpness: SHARPNESS + (theta[at] as number) };
}

/** The largest product of each turn for each token [N, J], and the number of that product among all. */
function matchTokens(spans: TokenSpans, products: Float32Array, width: number) {
  const maxima = new Float32Array(spans.length * width).fill(Number.NEGATIVE_INFINITY);
  const places = new Int32Array(spans.length * width);
  for (const [turn, [start, end]] of spans.entries())
    for (let token = start; token < end; token++)
      for (let j = 0, at = turn * width, from = token * width; j < width; j++, at++, from++) {
        if (!((products[from] as number) > (maxima[at] as number))) continue;
        maxima[at] = products[from] as number;
        places[at] = from;
      }
  return { maxima, places, products: products.length };
}

async function computeProducts({ form }: TokenModel, arrays: readonly Float32Array[], batch: TokenBatch) {
  const products = await readBack('tokenProducts', () => {
    const { turns, questions } = form.embed(uploadArrays(form.shapes, arrays), batch);
    return matmulTransposed(turns, questions);
  });
  return matchTokens(form.listSpans(batch), products, batch.logIdf.length);
}

/** The tokens of each question: [B, J], 0 for one of its own and a very low number for others. */
function maskTokens({ questions: { starts }, logIdf }: TokenBatch): Float32Array {
  const width = logIdf.length;
  const masks = new Float32Array((starts.length - 1) * width).fill(OUTSIDE);
  for (let q = 0; q + 1 < starts.length; q++) masks.fill(0, q * width + starts[q]!, q * width + starts[q + 1]!);
  return masks;
}

/** 1 for each turn and token where the token's question has the turn, [N, J]. */
function spreadMask({ questions: { starts }, logIdf, table: { mask, width: count } }: TokenBatch): Float32Array {
  const width = logIdf.length;
  const spread = new Float32Array(count * width);
  for (let q = 0; q + 1 < starts.length; q++)
    for (let turn = 0; turn < count; turn++)
      if (mask[q * count + turn] === 1) spread.fill(1, turn * width + starts[q]!, turn * width + starts[q + 1]!);
  return spread;
}

/** Scores of maxima, [B, N]. @param maxima [N, J] @param gate [D, 1] @param sharpness [1] */
function scoreMaxima(batch: TokenBatch, maxima: tf.Tensor2D, gate: tf.Tensor2D, sharpness: tf.Tensor): tf.Tensor2D {
  const [count, width] = maxima.shape;
  const { dimension, starts } = batch.questions;
  const mask = tf.tensor2d(spreadMask(batch), [count, width]);
  const inverse = tf.div(1, tf.sum(mask, 0, true)); // [1, J]
  const mean = tf.mul(tf.sum(tf.mul(maxima, mask), 0, true), inverse);
  const centred = tf.mul(tf.sub(maxima, mean), mask);
  const variance = tf.mul(tf.sum(tf.square(centred), 0, true), inverse);
  const standardised: tf.Tensor2D = tf.mul(centred, tf.rsqrt(tf.add(variance, EPSILON)));
  const open = matmul(tf.tensor2d(batch.gated, [width, dimension]), gate); // [J, 1]
  const logits = tf.add(tf.reshape(open, [1, width]), tf.tensor2d(batch.logIdf, [1, width]));
  const shares = tf.softmax(tf.add(logits, tf.tensor2d(maskTokens(batch), [starts.length - 1, width])));
  return tf.mul(matmul(shares as tf.Tensor2D, tf.transpose(standardised)), tf.exp(sharpness));
}

/** Scores of the turns of each question, row-major [B, N]; those of turns that a question lacks have no meaning. */
export async function scoreTokens(model: TokenModel, theta: Float64Array, batch: TokenBatch): Promise<Float32Array> {
  const { arrays, gate, sharpness } = splitNumbers(model, theta);
  const { maxima } = await computeProducts(model, arrays, batch);
  return readBack('scoreTokens', () =>
    scoreMaxima(
      batch,
      tf.tensor2d(maxima, [batch.table.width, batch.logIdf.length]),
      tf.tensor2d(gate, [model.dimension, 1]),
      tf.tensor1d([sharpness]),
    ),
  );
}

/**
 * The mean listwise loss of a batch, and its gradient by all numbers. Every product of tokens is computed, and the
 * gradient follows the one that is a turn's largest.
 */
export async function computeTokenLoss(
  model: TokenModel,
  theta: Float64Array,
  batch: TokenBatch,
): Promise<{ readonly loss: number; readonly gradient: Float64Array }> {
  registerGradients();
  const { arrays, gate, sharpness } = splitNumbers(model, theta);
  const { maxima, places, products } = await computeProducts(model, arrays, batch);
  const width = batch.logIdf.length;
  const queries = batch.table.queryIds.length;
  const head = await readBack('tokenLoss', () => {
    const targets = uploadLossTargets(batch.table, LOSS);
    const used = targets.used.reduce((sum, bit) => sum + bit, 0);
    const computeLosses = (...[found, open, factor]: tf.Tensor[]) =>
      computeQueryLosses(
        scoreMaxima(batch, found as tf.Tensor2D, open as tf.Tensor2D, factor as tf.Tensor),
        targets,
        LOSS,
      );
    const inputs = [
      tf.tensor2d(maxima, [batch.table.width, width]),
      tf.tensor2d(gate, [model.dimension, 1]),
      tf.tensor1d([sharpness]),
    ];
    const weights = tf.tensor1d(targets.used.map((bit) => bit / used));
    const { value, grads } = computeValueAndGradients(computeLosses, inputs, weights);
    return tf.concat([tf.mul(value, weights), ...grads].map((part) => tf.reshape(part, [part.size])) as tf.Tensor1D[]);
  });
  const slopes = new Float32Array(products);
  for (let at = 0; at < places.length; at++) slopes[places[at] as number] = head[queries + at] as number;
  const ofArrays = await readBack('tokenGradient', () => {
    const multiply = (...given: tf.Tensor[]) => {
      const { turns, questions } = model.form.embed(given, batch);
      return matmulTransposed(turns, questions);
    };
    const dy = tf.tensor2d(slopes, [slopes.length / width, width]);
    const { grads } = computeValueAndGradients(multiply, uploadArrays(model.form.shapes, arrays), dy);
    return tf.concat(grads.map((part) => tf.reshape(part, [part.size])) as tf.Tensor1D[]);
  });
  const gradient = new Float64Array(theta.length);
  gradient.set(ofArrays);
  gradient.set(head.subarray(queries + places.length, -1), ofArrays.length);
  gradient[theta.length - 1] = head.at(-1) as number;
  return { loss: head.subarray(0, queries).reduce((sum, part) => sum + part, 0), gradient };
}
