import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { scoped } from '../core/scope.ts';
import { parse } from '../core/validation.ts';
import { COORDINATES, DEFAULT_WEIGHTS, type Dimensions } from '../trajectory/coordinate-names.ts';
import { columnProduct } from './column-product.ts';
import type { ModelDefinition, ScoringModel } from './model.ts';
import type { ParameterSpec } from './parameters.ts';
import { type TrajectoryModelOptions, trajectorySignals, uploadTrajectory } from './trajectory-inputs.ts';
import { candidateShares, perRowMaximum, powerOf, queryShares } from './trajectory-steps.ts';

/** Under the root of a squared distance, which has no gradient at 0. Moves a distance by 1e-6 at most. */
const ROOT_EPSILON = 1e-12;

const MECHANISMS = ['rcp', 'ircp', 'tpo'] as const;

/** A parameter that is one number. */
function single(
  name: string,
  constraint: 'positive' | 'unit',
  initial: number,
  uniform: number,
  range: [number, number],
): ParameterSpec {
  return { name, labels: [name], constraint, initial: [initial], uniform: [uniform], range };
}

function specsOf(dimensions: Dimensions): ParameterSpec[] {
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
    single('alpha', 'unit', 0.7, 0.5, [0, 1]),
    single('temperature', 'positive', 0.1, 1, [0.02, 2]),
    single('decay', 'positive', 0.5, 1, [0.02, 5]),
    {
      name: 'mix',
      labels: MECHANISMS,
      constraint: 'simplex',
      initial: [0.4, 0.4, 0.2],
      uniform: [1 / 3, 1 / 3, 1 / 3],
      range: [0, 1],
    },
    single('attentionShare', 'unit', 0.2, 0.5, [0, 1]),
    single('fadingPerHour', 'positive', Math.LN2 / 24, 0, [1e-5, 1]),
    single('neighbourWeight', 'positive', 0, 1, [0.01, 2]),
    single('sessionWeight', 'positive', 0, 1, [0.01, 2]),
  ];
}

type Named<T extends tf.Tensor> = Readonly<Record<string, T>>;

/** `(relevance + n neighbour + s session) e^(-rate age)`, each row divided by its maximum. [B, C] */
function semantic(values: Named<tf.Tensor1D>, inputs: Named<tf.Tensor2D>): tf.Tensor2D {
  const context = tf.add(
    tf.mul(inputs.neighbour!, values.neighbourWeight!),
    tf.mul(inputs.session!, values.sessionWeight!),
  );
  const fading = tf.exp(tf.sub(0, tf.mul(inputs.ages!, values.fadingPerHour!)));
  return perRowMaximum(tf.mul(tf.add(inputs.relevance!, context), fading));
}

/** The mix of RCP and TPO over the candidates and directed IRCP over the turns that each candidate sees. [B, C] */
function attention(values: Named<tf.Tensor1D>, inputs: tf.NamedTensorMap, distances: tf.Tensor2D): tf.Tensor2D {
  const { likeness, ringDistance, mask } = inputs as Named<tf.Tensor2D>;
  const [decay, temperature] = [values.decay!, values.temperature!];
  const among = (distance: tf.Tensor2D) =>
    candidateShares({ likeness: likeness!, distance }, mask!, decay, temperature);
  const { forwardLikeness, forwardDistance, forwardBias } = inputs as Named<tf.Tensor3D>;
  const seen = { likeness: forwardLikeness!, distance: forwardDistance!, bias: forwardBias! };
  const scores = {
    rcp: among(ringDistance!),
    ircp: tf.mul(queryShares(seen, decay, temperature), mask!),
    tpo: among(distances),
  };
  const parts = MECHANISMS.map((name, i) => {
    const chosen = tf.tensor1d(MECHANISMS.map((_, j) => Number(i === j)));
    return tf.mul(scores[name], tf.sum(tf.mul(values.mix!, chosen)));
  });
  return parts.reduce((sum, part) => tf.add(sum, part)) as tf.Tensor2D;
}

/** `(1 - share) a + share b` */
function blended(a: tf.Tensor2D, b: tf.Tensor2D, share: tf.Tensor1D): tf.Tensor2D {
  return tf.add(tf.mul(a, tf.sub(1, share)), tf.mul(b, share));
}

/**
 * The chain of the paper with all its numbers to be learned: relevance with its surroundings, fading with age; trajectory score exp(-D) with sigma = 1; the mix of
 * three attentions (sections 4.1, 4.2 and 7.3 of diomande2026ragpp).
 *
 * `r = (relevance + n neighbour + s session) e^(-rate age)`, `f = alpha r / max r + (1 - alpha) e^(-D)`, score `(1 - share) f / max f + share a / max a`, maxima over
 * a query's candidates. O(B C (M + 11)).
 */
export function trajectoryModel(options: TrajectoryModelOptions): ScoringModel {
  return {
    name: 'trajectory',
    config: { ...options },
    constants: {},
    signals: trajectorySignals(options.dimensions),
    parameters: specsOf(options.dimensions),
    upload: (table) => uploadTrajectory(table, options),
    score: (parameters, named) =>
      scoped('trajectoryModel', () => {
        const values = parameters as Named<tf.Tensor1D>;
        const inputs = named as Named<tf.Tensor2D>;
        const mask = inputs.mask as tf.Tensor2D;
        const features = { rows: named.squares as tf.Tensor3D, columns: inputs.squareColumns! };
        const squares = columnProduct(features, values.coordinates!);
        const distances: tf.Tensor2D = tf.sqrt(tf.add(squares, ROOT_EPSILON)); // [B, C]
        const trajectory: tf.Tensor2D = tf.mul(powerOf(tf.sub(0, distances)), mask) as tf.Tensor2D;
        const final = blended(trajectory, semantic(values, inputs), values.alpha!);
        return blended(
          perRowMaximum(final),
          perRowMaximum(attention(values, named, distances)),
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
  restore: (config, _, source) => trajectoryModel(parse(configSchema, config, source)),
};
