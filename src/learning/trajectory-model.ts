import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { scoped } from '../core/scope.ts';
import { parse } from '../core/validation.ts';
import { COORDINATES, DEFAULT_WEIGHTS, type Dimensions } from '../trajectory/coordinate-names.ts';
import { multiplyColumns } from './column-product.ts';
import type { ModelDefinition, ScoringModel } from './model.ts';
import type { ParameterSpec } from './parameters.ts';
import { listTrajectorySignals, type TrajectoryModelOptions, uploadTrajectory } from './trajectory-inputs.ts';
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

/** `(relevance + n neighbour + s session) e^(-rate age)`, each row divided by its maximum. [B, C] */
function computeFadedRelevance(values: Named<tf.Tensor1D>, inputs: Named<tf.Tensor2D>): tf.Tensor2D {
  const context = tf.add(
    tf.mul(inputs.neighbour!, values.neighbourWeight!),
    tf.mul(inputs.session!, values.sessionWeight!),
  );
  const fading = tf.exp(tf.sub(0, tf.mul(inputs.ages!, values.fadingPerHour!)));
  return divideByRowMaximum(tf.mul(tf.add(inputs.relevance!, context), fading));
}

/** The mix of RCP and TPO over the candidates and directed IRCP over the turns that each candidate sees. [B, C] */
function computeMixedAttention(
  values: Named<tf.Tensor1D>,
  inputs: tf.NamedTensorMap,
  distances: tf.Tensor2D,
): tf.Tensor2D {
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
  const parts = MECHANISMS.map((name, i) => {
    const chosen = tf.tensor1d(MECHANISMS.map((_, j) => Number(i === j)));
    return tf.mul(scores[name], tf.sum(tf.mul(values.mix!, chosen)));
  });
  return parts.reduce((sum, part) => tf.add(sum, part)) as tf.Tensor2D;
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
 * a query's candidates. O(B C (M + 11)).
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
        const values = parameters as Named<tf.Tensor1D>;
        const inputs = named as Named<tf.Tensor2D>;
        const mask = inputs.mask as tf.Tensor2D;
        const features = { rows: named.squares as tf.Tensor3D, columns: inputs.squareColumns! };
        const squares = multiplyColumns(features, values.coordinates!);
        const distances: tf.Tensor2D = tf.sqrt(tf.add(squares, ROOT_EPSILON)); // [B, C]
        const trajectory: tf.Tensor2D = tf.mul(computePower(tf.sub(0, distances)), mask) as tf.Tensor2D;
        const final = blendShares(trajectory, computeFadedRelevance(values, inputs), values.alpha!);
        return blendShares(
          divideByRowMaximum(final),
          divideByRowMaximum(computeMixedAttention(values, named, distances)),
          values.attentionShare!,
        );
      }),
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
