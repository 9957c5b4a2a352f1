import * as tf from '@tensorflow/tfjs-core';
import type { FeatureTable } from './feature-table.ts';
import { type Parametric, splitParameters } from './parameters.ts';

/** Scores candidates from their signals by numbers that can be learned. */
export interface ScoringModel extends Parametric {
  readonly name: string;
  /** The signals that a table must have for it. */
  readonly signals: readonly string[];
  /** The config of the model; with the constants it is enough to make an equal model. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Numbers that were taken from the rows it is trained on, not learned. */
  readonly constants: Readonly<Record<string, Float64Array>>;
  /** Copies the model's inputs to the device, once for all scorings; belongs to the caller. */
  upload(table: FeatureTable): tf.NamedTensorMap;
  /**
   * A differentiable function of the parameters.
   *
   * @param parameters by name, a vector each, in their domains
   * @param inputs of {@link upload}
   * @returns [B, C]; values at padding have no meaning
   */
  score(parameters: tf.NamedTensorMap, inputs: tf.NamedTensorMap): tf.Tensor2D;
  /** Parts that add up to the scores by name, [B, C] each. Of a model whose scores are no plain sum over its signals. */
  decompose?(parameters: tf.NamedTensorMap, inputs: tf.NamedTensorMap): tf.NamedTensorMap;
}

/** A model that a weight file may name. Restoring is synchronous, since reading a config is. */
export interface ModelDefinition {
  readonly name: string;
  /** One line for people. */
  readonly description: string;
  /**
   * Makes the model again of its config and constants.
   *
   * @param source who says so, for errors
   * @throws ConfigurationError for a config that is not its own, ValidationError for constants that are missing.
   */
  restore(config: unknown, constants: ScoringModel['constants'], source: string): ScoringModel;
}

/** The values as vectors on the device, which belong to the caller. */
export function uploadParameters(model: Parametric, values: Float64Array): tf.Tensor1D[] {
  return [...splitParameters(model, values)].map(([, part]) => tf.tensor1d(Float32Array.from(part)));
}

export function nameTensors({ parameters }: Parametric, tensors: readonly tf.Tensor[]): tf.NamedTensorMap {
  return Object.fromEntries(parameters.map(({ name }, i) => [name, tensors[i] as tf.Tensor]));
}
