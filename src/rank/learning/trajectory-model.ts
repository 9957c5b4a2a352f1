import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { invertOrZero } from '../../core/tensors/inverse-or-zero.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { parse } from '../../core/validation/validation.ts';
import { COORDINATES, DEFAULT_WEIGHTS, type Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { multiplyColumns } from './column-product.ts';
import type { ModelDefinition, ScoringModel } from './model.ts';
import { listTrajectorySignals } from './model-signals.ts';
import type { ParameterSpec } from './parameters.ts';
import { type TrajectoryModelOptions, uploadTrajectory } from './trajectory-inputs.ts';
import { computeCandidateShares, computePower, computeQueryShares, divideByRowMaximum } from './trajectory-steps.ts';

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

/** RCP and TPO over the candidates and directed IRCP over the turns that each candidate sees, each with its share of the mix. [B, C] each */
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
  const features = { rows: named.squares as tf.Tensor3D, columns: inputs.squareColumns! };
  const squares = multiplyColumns(features, values.coordinates!);
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
 * The chain of the paper with all its numbers to be learned: relevance with its surroundings, fading with age; trajectory score exp(-D) with sigma = 1; the mix of
 * three attentions (sections 4.1, 4.2 and 7.3 of diomande2026ragpp).
 *
 * `r = (relevance + n neighbour + s session) e^(-rate age)`, `f = alpha r / max r + (1 - alpha) e^(-D)`, score `(1 - share) f / max f + share a / max a`, maxima over
 * a query's candidates. O(B C (M + 11)). Its parts are those of relevance, neighbours, session, fading (what age takes away, never positive), trajectory, and of
 * each attention.
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
