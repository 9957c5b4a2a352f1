import * as tf from '@tensorflow/tfjs-core';
import { readBack } from '../core/read-back.ts';
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

  dispose(): void {
    tf.dispose(this.#inputs);
  }
}

/** The scores of a table's candidates by a model with some values. */
export async function scoreTable(
  model: ScoringModel,
  values: Float64Array,
  table: FeatureTable,
): Promise<Float32Array> {
  const scorer = new TableScorer(model, table);
  try {
    return await scorer.scoreWith(values);
  } finally {
    scorer.dispose();
  }
}
