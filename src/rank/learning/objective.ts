import * as tf from '@tensorflow/tfjs-core';
import { NotFiniteError } from '../../core/errors/errors.ts';
import { registerGradients } from '../../core/tensors/gradients.ts';
import { readBack } from '../../core/tensors/scope.ts';
import type { FeatureTable } from './feature-table.ts';
import { computeQueryLosses, type LossOptions, type LossTargets, uploadLossTargets } from './losses.ts';
import { nameTensors, type ScoringModel, uploadParameters } from './model.ts';
import { constrainValues, pullBackGradient } from './parameters.ts';

/**
 * A function's value and the gradients of `sum(dy f)` by its inputs. What tfjs keeps for the way back it lets go of
 * only at its end: where the device fails before that, this does.
 *
 * @param dy of the value's shape
 */
export function computeValueAndGradients(
  f: (...inputs: tf.Tensor[]) => tf.Tensor,
  inputs: tf.Tensor[],
  dy: tf.Tensor,
): { readonly value: tf.Tensor; readonly grads: readonly tf.Tensor[] } {
  const engine = tf.engine();
  const keep = engine.keep.bind(engine);
  const kept: tf.Tensor[] = [];
  const noting: Pick<typeof engine, 'keep'> = {
    keep: (tensor) => {
      kept.push(tensor);
      return keep(tensor);
    },
  };
  Object.assign(engine, noting);
  try {
    return tf.valueAndGrads(f)(inputs, dy);
  } catch (error) {
    tf.dispose(kept);
    throw error;
  } finally {
    Reflect.deleteProperty(engine, 'keep'); // back to that of its class
  }
}

interface LossAt {
  /** Mean over the queries that take part, summed in float64. */
  readonly loss: number;
  /** [P] by the free numbers. */
  readonly gradient: Float64Array;
}

/** The loss of a model on a table, which stays on the device until it is disposed. */
export class TrainingObjective {
  readonly #model: ScoringModel;
  readonly #loss: LossOptions;
  readonly #inputs: tf.NamedTensorMap;
  readonly #targets: LossTargets;
  readonly #weights: Float32Array;
  /** B. */
  readonly queries: number;
  /** Queries that take part. */
  readonly used: number;

  constructor(model: ScoringModel, table: FeatureTable, loss: LossOptions) {
    registerGradients();
    this.#model = model;
    this.#loss = loss;
    this.#targets = uploadLossTargets(table, loss);
    try {
      this.#inputs = model.upload(table);
    } catch (error) {
      this.#disposeTargets();
      throw error;
    }
    this.queries = this.#targets.used.length;
    this.used = this.#targets.used.reduce((sum, bit) => sum + bit, 0);
    this.#weights = this.#targets.used.map((bit) => bit / this.used);
  }

  /** @param theta [P] @throws NotFiniteError naming the epoch's culprit, a loss or gradient that is no number. */
  async computeLossAt(theta: Float64Array): Promise<LossAt> {
    const numbers = await readBack('TrainingObjective', () => {
      const parameters = uploadParameters(this.#model, constrainValues(this.#model, theta));
      const { losses, gradients } = this.differentiate(parameters);
      return tf.concat([losses, ...gradients]);
    });
    const loss = this.averageLosses(numbers.subarray(0, this.queries));
    const gradient = Float64Array.from(numbers.subarray(this.queries));
    const wrong = gradient.find((value) => !Number.isFinite(value));
    if (!Number.isFinite(loss) || wrong !== undefined)
      throw new NotFiniteError('loss or its gradient', `parameters ${[...theta]}`, wrong ?? loss);
    return { loss, gradient: pullBackGradient(this.#model, theta, gradient) };
  }

  /** The mean over the queries that take part, summed in float64. @param losses [B] */
  averageLosses(losses: Float32Array): number {
    return losses.reduce((sum, loss) => sum + loss, 0) / this.used;
  }

  /**
   * The loss of each query, and the gradient of their mean by the parameters in their domains. Belongs to the scope
   * around it.
   *
   * @param parameters a vector for each, in the order of the model
   */
  differentiate(parameters: tf.Tensor1D[]): { readonly losses: tf.Tensor1D; readonly gradients: tf.Tensor1D[] } {
    const computeLosses = (...tensors: tf.Tensor[]) => {
      const scores = this.#model.score(nameTensors(this.#model, tensors), this.#inputs);
      return computeQueryLosses(scores, this.#targets, this.#loss);
    };
    const { value, grads } = computeValueAndGradients(computeLosses, parameters, tf.tensor1d(this.#weights));
    return { losses: value as tf.Tensor1D, gradients: grads as tf.Tensor1D[] };
  }

  #disposeTargets(): void {
    tf.dispose([this.#targets.shares, this.#targets.masks]);
  }

  dispose(): void {
    this.#disposeTargets();
    tf.dispose(this.#inputs);
  }
}
