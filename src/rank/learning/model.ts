import * as tf from '@tensorflow/tfjs-core';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { readBack } from '../../core/tensors/scope.ts';
import { COORDINATES, type Dimensions } from '../../ops/trajectory/coordinate-names.ts';
import { toSignalPart } from '../signals/plan.ts';
import type { FeatureTable } from './feature-table.ts';
import type { ModelOptions } from './fit-options.ts';
import { assertValues, type Parametric, splitParameters } from './parameters.ts';

/** The number of later turns that a candidate attends to one by one; those beyond count e^0 each. */
export const TURNS_AHEAD = 8;

/** Signals of each turn ahead, the nearest first. */
export function listAheadSignals(): readonly string[] {
  return Array.from({ length: TURNS_AHEAD }, (_, i) => `ahead.${i + 1}`);
}

/** A signal of each coordinate. */
export function listCoordinateSignals(dimensions: Dimensions): string[] {
  return COORDINATES[dimensions].map((name) => `coordinate.${toSignalPart(name)}`);
}

/**
 * The signals that a table must have. `coordinate.` is candidate minus query; `ahead.k` the cosine of the candidate to
 * the k-th turn after it, 0 if there is none.
 */
export function listTrajectorySignals(dimensions: Dimensions): string[] {
  const scores = ['relevance', 'relevance@neighbour', 'relevance@session', 'age.hours', 'cosine'];
  const places = ['ring.distance', 'cold-start', 'ahead.count'];
  return [...scores, ...listCoordinateSignals(dimensions), ...places, ...listAheadSignals()];
}

/** The default start of a mix: words and embeddings alike. */
export const HAND_TUNED: Readonly<Record<string, number>> = { bm25: 1, cosine: 1 };

/** The signals of a mix: those that it names, or all of a table but the inputs of a trajectory model. */
export function listMixSignals(
  all: readonly string[],
  { signals }: Extract<ModelOptions, { name: 'linear' }>,
): readonly string[] {
  const inputs = new Set(listTrajectorySignals(7));
  return signals ?? all.filter((signal) => signal === 'cosine' || !inputs.has(signal));
}

/** The signals that a model reads, of all those of a table. */
export function listModelSignals(model: ModelOptions, all: readonly string[]): readonly string[] {
  return model.name === 'trajectory' ? listTrajectorySignals(model.dimensions) : listMixSignals(all, model);
}

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

/**
 * Scores one table by a model with many values of its parameters; the table stays on the device until it is disposed.
 */
export class TableScorer {
  readonly #model: ScoringModel;
  readonly #inputs: tf.NamedTensorMap;

  constructor(model: ScoringModel, table: FeatureTable) {
    this.#model = model;
    this.#inputs = model.upload(table);
  }

  /**
   * @param values [P] in their domains
   * @returns row-major [Q, C]; values at padding have no meaning.
   */
  async scoreWith(values: Float64Array): Promise<Float32Array> {
    assertValues(this.#model, values);
    return readBack('TableScorer', () => this.score(uploadParameters(this.#model, values)));
  }

  /** @param parameters a vector for each, in the order of the model @returns [Q, C] */
  score(parameters: readonly tf.Tensor1D[]): tf.Tensor2D {
    return this.#model.score(nameTensors(this.#model, parameters), this.#inputs);
  }

  /**
   * @param values [P] in their domains
   * @returns the parts of the scores by name, row-major [Q, C] each; empty for a model without {@link
   *   ScoringModel.decompose}.
   */
  async decomposeWith(values: Float64Array): Promise<Map<string, Float32Array>> {
    assertValues(this.#model, values);
    if (this.#model.decompose === undefined) return new Map();
    let names: string[] = [];
    const joined = await readBack('TableScorer', () => {
      const parameters = nameTensors(this.#model, uploadParameters(this.#model, values));
      const parts = this.#model.decompose?.(parameters, this.#inputs) ?? {};
      names = Object.keys(parts);
      return tf.stack(Object.values(parts)); // [P, Q, C]
    });
    const size = joined.length / names.length;
    return new Map(names.map((name, p) => [name, joined.subarray(p * size, (p + 1) * size)]));
  }

  dispose(): void {
    tf.dispose(this.#inputs);
  }
}

async function useScorer<T>(
  model: ScoringModel,
  table: FeatureTable,
  use: (scorer: TableScorer) => Promise<T>,
): Promise<T> {
  await ensureBackend();
  const scorer = new TableScorer(model, table);
  try {
    return await use(scorer);
  } finally {
    scorer.dispose();
  }
}

/** The scores of a table's candidates by a model with some values. */
export function scoreTable(model: ScoringModel, values: Float64Array, table: FeatureTable): Promise<Float32Array> {
  return useScorer(model, table, (scorer) => scorer.scoreWith(values));
}

/** The parts of the scores of a table's candidates: see {@link TableScorer.decomposeWith}. */
export function decomposeTable(
  model: ScoringModel,
  values: Float64Array,
  table: FeatureTable,
): Promise<Map<string, Float32Array>> {
  return useScorer(model, table, (scorer) => scorer.decomposeWith(values));
}
