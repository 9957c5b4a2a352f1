import * as tf from '@tensorflow/tfjs-core';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { readBack } from '../../core/tensors/scope.ts';
import type { FeatureTable } from './feature-table.ts';
import { nameTensors, type ScoringModel, uploadParameters } from './model.ts';
import { assertValues } from './parameters.ts';

/** Scores one table by a model with many values of its parameters; the table stays on the device until it is disposed. */
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
    return readBack('TableScorer', () => {
      const parameters = nameTensors(this.#model, uploadParameters(this.#model, values));
      return this.#model.score(parameters, this.#inputs);
    });
  }

  /**
   * @param values [P] in their domains
   * @returns the parts of the scores by name, row-major [Q, C] each; empty for a model without {@link ScoringModel.decompose}.
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
