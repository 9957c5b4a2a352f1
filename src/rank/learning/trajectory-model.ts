import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { invertOrZero, scoped } from '../../core/tensors/scope.ts';
import { parse } from '../../core/validation/validation.ts';
import { MASKED } from '../../ops/attention/options.ts';
import { COORDINATES, DEFAULT_WEIGHTS, type Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { findFeatures, multiplyColumns, withGradient, withGradients } from './linear-model.ts';
import { listTrajectorySignals, type ModelDefinition, type ScoringModel } from './model.ts';
import type { ParameterSpec } from './parameters.ts';
import { type TrajectoryModelOptions, uploadTrajectory } from './trajectory-inputs.ts';

/**
 * `e^x` for x that are not positive, as elu(x) + 1: on wasm that takes a twentieth of an exponential. Within 1e-7,
 * which is little beside 1 but not beside a power that is tiny itself.
 */
export function computePower<T extends tf.Tensor>(x: T): T {
  return withGradient(x, (given) => {
    const value: T = tf.add(tf.elu(given), 1);
    return { value, saved: [value], gradient: (dy, [power]) => tf.mul(dy, power as T) };
  });
}

/**
 * Each row divided by its largest value; a row without a positive one, or with subnormal ones alone, becomes 0. Several
 * largest ones share the gradient.
 *
 * @param scores [B, C], not negative
 */
export function divideByRowMaximum(scores: tf.Tensor2D): tf.Tensor2D {
  return withGradient(scores, (given) => {
    const most = tf.max(given, 1, true); // [B, 1]
    const scale = invertOrZero(most); // one quotient a row: wasm is slow at them
    const value: tf.Tensor2D = tf.mul(given, scale);
    const computeStepGradient = (dy: tf.Tensor2D, saved: tf.Tensor[]) => {
      const [x, rowMost, rowScale, y] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
      const isMost = tf.sub(1, tf.step(tf.sub(rowMost, x))); // [B, C]
      const ofMost = tf.div(tf.sum(tf.mul(dy, y), 1, true), tf.sum(isMost, 1, true)); // [B, 1]
      return tf.mul(tf.sub(dy, tf.mul(isMost, ofMost)), rowScale);
    };
    return { value, saved: [given, most, scale, value], gradient: computeStepGradient };
  });
}

/** The sum of all, axis by axis: a float32 sum of millions of terms in one go is biased. [1] */
function sumAllAxes(x: tf.Tensor): tf.Tensor {
  return tf.reshape(
    [...x.shape.keys()].reverse().reduce((sum, axis) => tf.sum(sum, axis), x),
    [1],
  );
}

/**
 * The inputs of multiplicative logits: `likeness e^(-decay distance) / temperature` with likeness (1 + cos) / 2.
 * Constant, of one shape.
 */
interface LogitParts<T extends tf.Tensor> {
  readonly likeness: T;
  readonly distance: T;
}

function computeStepLogits<T extends tf.Tensor>(
  { likeness, distance }: LogitParts<T>,
  distanceDecay: tf.Tensor,
  temperature: tf.Tensor,
): T {
  const spatial = tf.add(tf.elu(tf.mul(distance, tf.neg(distanceDecay))), 1);
  return tf.mul(tf.mul(spatial, likeness), tf.div(1, temperature)) as T;
}

/** Slopes by decay and temperature of `sum(dl logits)`. @param weighted `dl logits` */
function computeLogitSlopes(weighted: tf.Tensor, distance: tf.Tensor, temperature: tf.Tensor): [tf.Tensor, tf.Tensor] {
  return [tf.neg(sumAllAxes(tf.mul(weighted, distance))), tf.neg(tf.div(sumAllAxes(weighted), temperature))];
}

/**
 * RCP and TPO: each candidate's share in the query's row, softmax of the logits over admissible candidates.
 *
 * @param parts [B, C]; the distance may be learned, the likeness must live until the gradient has been asked for
 * @param mask [B, C] 1 or 0; likewise
 * @param distanceDecay [1]
 * @param temperature [1]
 * @returns [B, C]
 */
export function computeCandidateShares(
  { likeness, distance }: LogitParts<tf.Tensor2D>,
  mask: tf.Tensor2D,
  distanceDecay: tf.Tensor1D,
  temperature: tf.Tensor1D,
): tf.Tensor2D {
  return withGradients([distance, distanceDecay, temperature], (d, rate, scale) => {
    const values: tf.Tensor2D = computeStepLogits({ likeness, distance: d as tf.Tensor2D }, rate, scale);
    const shares: tf.Tensor2D = tf.mul(tf.softmax(tf.sub(values, tf.mul(tf.sub(mask, 1), MASKED))), mask);
    const computeStepGradient = (dy: tf.Tensor2D, saved: tf.Tensor[]) => {
      const [p, l, steps, by, divisor] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
      const byLogit = tf.mul(p, tf.sub(dy, tf.sum(tf.mul(p, dy), 1, true)));
      const weighted = tf.mul(byLogit, l);
      return [tf.mul(weighted, tf.neg(by)), ...computeLogitSlopes(weighted, steps, divisor)];
    };
    return { value: shares, saved: [shares, values, d, rate, scale], gradient: computeStepGradient };
  });
}

/**
 * The turns that candidates attend to, the query first. [B, C, K] each; all must live until the gradient is computed.
 */
interface SeenKeys extends LogitParts<tf.Tensor3D> {
  /** Added to the logits. */
  readonly bias: tf.Tensor3D;
}

/**
 * IRCP: the query's share in the row of each candidate, softmax over its K keys.
 *
 * @param distanceDecay [1]
 * @param temperature [1]
 * @returns [B, C]
 */
export function computeQueryShares(keys: SeenKeys, distanceDecay: tf.Tensor1D, temperature: tf.Tensor1D): tf.Tensor2D {
  const [queries, candidates, count] = keys.distance.shape;
  const pairs = queries * candidates;
  const first = Array.from({ length: count }, (_, key) => Number(key === 0));
  return withGradients([distanceDecay, temperature], (rate, scale) => {
    const values = computeStepLogits(keys, rate, scale);
    const shares = tf.softmax(tf.reshape(tf.add(values, keys.bias), [pairs, count]));
    const own = tf.matMul(shares, tf.tensor2d(first, [count, 1])); // [B C, 1]
    const computeStepGradient = (dy: tf.Tensor2D, saved: tf.Tensor[]) => {
      const [p, chosen, l, divisor] = saved as [tf.Tensor, tf.Tensor, tf.Tensor, tf.Tensor];
      const byShare = tf.mul(tf.reshape(dy, [pairs, 1]), chosen);
      const byLogit = tf.mul(tf.sub(tf.tensor2d(first, [1, count]), p), byShare); // [B C, K]
      return computeLogitSlopes(tf.mul(tf.reshape(byLogit, l.shape), l), keys.distance, divisor);
    };
    return {
      value: tf.reshape(own, [queries, candidates]) as tf.Tensor2D,
      saved: [shares, own, values, scale],
      gradient: computeStepGradient,
    };
  });
}

/** Under the root of a squared distance, which has no gradient at 0. Moves a distance by 1e-6 at most. */
const ROOT_EPSILON = 1e-12;

const MECHANISMS = ['rcp', 'ircp', 'tpo'] as const;

/** A parameter that is one number. */
function buildNumberSpec(
  name: string,
  constraint: 'positive' | 'unit',
  initial: number,
  uniform: number,
  range: [number, number],
): ParameterSpec {
  return { name, labels: [name], constraint, initial: [initial], uniform: [uniform], range };
}

function buildChainSpecs(dimensions: Dimensions): ParameterSpec[] {
  const coordinates = COORDINATES[dimensions];
  return [
    {
      name: 'coordinates',
      labels: coordinates,
      constraint: 'positive',
      initial: coordinates.map((name) => DEFAULT_WEIGHTS[name]),
      uniform: coordinates.map(() => 1),
      range: [0.05, 5],
    },
    buildNumberSpec('alpha', 'unit', 0.7, 0.5, [0, 1]),
    buildNumberSpec('temperature', 'positive', 0.1, 1, [0.02, 2]),
    buildNumberSpec('decay', 'positive', 0.5, 1, [0.02, 5]),
    {
      name: 'mix',
      labels: MECHANISMS,
      constraint: 'simplex',
      initial: [0.4, 0.4, 0.2],
      uniform: [1 / 3, 1 / 3, 1 / 3],
      range: [0, 1],
    },
    buildNumberSpec('attentionShare', 'unit', 0.2, 0.5, [0, 1]),
    buildNumberSpec('fadingPerHour', 'positive', Math.LN2 / 24, 0, [1e-5, 1]),
    buildNumberSpec('neighbourWeight', 'positive', 0, 1, [0.01, 2]),
    buildNumberSpec('sessionWeight', 'positive', 0, 1, [0.01, 2]),
  ];
}

type Named<T extends tf.Tensor> = Readonly<Record<string, T>>;

/** The terms of a score that add up before they fade, and how much of them age leaves. [B, C] each */
function computeRelevanceTerms(values: Named<tf.Tensor1D>, inputs: Named<tf.Tensor2D>) {
  const neighbours: tf.Tensor2D = tf.mul(inputs.neighbour!, values.neighbourWeight!);
  const session: tf.Tensor2D = tf.mul(inputs.session!, values.sessionWeight!);
  const sum: tf.Tensor2D = tf.add(inputs.relevance!, tf.add(neighbours, session));
  const fading: tf.Tensor2D = tf.exp(tf.sub(0, tf.mul(inputs.ages!, values.fadingPerHour!)));
  return { neighbours, session, sum, fading, faded: tf.mul(sum, fading) as tf.Tensor2D };
}

/**
 * RCP and TPO over the candidates and directed IRCP over the turns that each candidate sees, each with its share of the
 * mix. [B, C] each
 */
function computeMixedAttentions(
  values: Named<tf.Tensor1D>,
  inputs: tf.NamedTensorMap,
  distances: tf.Tensor2D,
): tf.Tensor2D[] {
  const { likeness, ringDistance, mask } = inputs as Named<tf.Tensor2D>;
  const [distanceDecay, temperature] = [values.decay!, values.temperature!];
  const shareAmongCandidates = (distance: tf.Tensor2D) =>
    computeCandidateShares({ likeness: likeness!, distance }, mask!, distanceDecay, temperature);
  const { forwardLikeness, forwardDistance, forwardBias } = inputs as Named<tf.Tensor3D>;
  const seen = { likeness: forwardLikeness!, distance: forwardDistance!, bias: forwardBias! };
  const scores = {
    rcp: shareAmongCandidates(ringDistance!),
    ircp: tf.mul(computeQueryShares(seen, distanceDecay, temperature), mask!),
    tpo: shareAmongCandidates(distances),
  };
  return MECHANISMS.map((name, i) => {
    const chosen = tf.tensor1d(MECHANISMS.map((_, j) => Number(i === j)));
    return tf.mul(scores[name], tf.sum(tf.mul(values.mix!, chosen)));
  });
}

/** The terms of the scores, before the blends that {@link createTrajectoryModel} makes of them. */
function computeTerms(parameters: tf.NamedTensorMap, named: tf.NamedTensorMap) {
  const values = parameters as Named<tf.Tensor1D>;
  const inputs = named as Named<tf.Tensor2D>;
  const squares = multiplyColumns(findFeatures(named, 'squares'), values.coordinates!);
  const distances: tf.Tensor2D = tf.sqrt(tf.add(squares, ROOT_EPSILON)); // [B, C]
  const trajectory = tf.mul(computePower(tf.sub(0, distances)), inputs.mask!) as tf.Tensor2D;
  const relevance = computeRelevanceTerms(values, inputs);
  const final = blendShares(trajectory, divideByRowMaximum(relevance.faded), values.alpha!);
  const attentions = computeMixedAttentions(values, named, distances);
  const attention = attentions.reduce((sum, part) => tf.add(sum, part));
  return { values, inputs, trajectory, relevance, final, attentions, attention };
}

/** What divides each row, as a factor. [B, 1] */
function invertRowMaximum(scores: tf.Tensor2D): tf.Tensor2D {
  return invertOrZero(tf.max(scores, 1, true));
}

/** The products of the terms with all that multiplies them on the way to the score. */
function computeParts(parameters: tf.NamedTensorMap, named: tf.NamedTensorMap): tf.NamedTensorMap {
  const { values, inputs, trajectory, relevance, final, attentions, attention } = computeTerms(parameters, named);
  const ofChain = tf.mul(invertRowMaximum(final), tf.sub(1, values.attentionShare!)); // [B, 1]
  const ofRelevance = tf.mul(tf.mul(ofChain, values.alpha!), invertRowMaximum(relevance.faded));
  const ofAttention = tf.mul(invertRowMaximum(attention), values.attentionShare!);
  return {
    relevance: tf.mul(inputs.relevance!, ofRelevance),
    neighbours: tf.mul(relevance.neighbours, ofRelevance),
    session: tf.mul(relevance.session, ofRelevance),
    fading: tf.mul(tf.mul(relevance.sum, tf.sub(relevance.fading, 1)), ofRelevance),
    trajectory: tf.mul(trajectory, tf.mul(ofChain, tf.sub(1, values.alpha!))),
    ...Object.fromEntries(MECHANISMS.map((name, i) => [name, tf.mul(attentions[i]!, ofAttention)])),
  };
}

/** `(1 - share) a + share b` */
function blendShares(a: tf.Tensor2D, b: tf.Tensor2D, share: tf.Tensor1D): tf.Tensor2D {
  return tf.add(tf.mul(a, tf.sub(1, share)), tf.mul(b, share));
}

/**
 * The chain of the paper with all its numbers to be learned: relevance with its surroundings, fading with age;
 * trajectory score exp(-D) with sigma = 1; the mix of three attentions (sections 4.1, 4.2 and 7.3 of
 * diomande2026ragpp).
 *
 * `r = (relevance + n neighbour + s session) e^(-rate age)`, `f = alpha r / max r + (1 - alpha) e^(-D)`, score `(1 -
 * share) f / max f + share a / max a`, maxima over a query's candidates. O(B C (M + 11)). Its parts are those of
 * relevance, neighbours, session, fading (what age takes away, never positive), trajectory, and of each attention.
 */
export function createTrajectoryModel(options: TrajectoryModelOptions): ScoringModel {
  return {
    name: 'trajectory',
    config: { ...options },
    constants: {},
    signals: listTrajectorySignals(options.dimensions),
    parameters: buildChainSpecs(options.dimensions),
    upload: (table) => uploadTrajectory(table, options),
    score: (parameters, named) =>
      scoped('createTrajectoryModel', () => {
        const { values, final, attention } = computeTerms(parameters, named);
        return blendShares(divideByRowMaximum(final), divideByRowMaximum(attention), values.attentionShare!);
      }),
    decompose: (parameters, named) => scoped('createTrajectoryModel', () => computeParts(parameters, named)),
  };
}

const configSchema = z.strictObject({
  dimensions: z.union([z.literal(3), z.literal(5), z.literal(7)]),
  self: z.enum(['include', 'exclude']),
});

export const trajectory: ModelDefinition = {
  name: 'trajectory',
  description: "the paper's chain of relevance, trajectory and attention, with all its numbers free",
  restore: (config, _, source) => createTrajectoryModel(parse(configSchema, config, source)),
};
