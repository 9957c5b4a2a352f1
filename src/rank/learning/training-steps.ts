import * as tf from '@tensorflow/tfjs-core';
import { NotFiniteError } from '../../core/errors/errors.ts';
import { readsFromCard } from '../../core/tensors/active-backend.ts';
import { readBack, scoped } from '../../core/tensors/scope.ts';
import { type AdamOptions, type AdamTensors, createAdamState, takeAdamStep, takeAdamStepOnDevice } from './adam.ts';
import { constrainTensors } from './device-parameters.ts';
import type { ScoringModel, TableScorer } from './model.ts';
import type { TrainingObjective } from './objective.ts';
import { constrainValues, freeValues, listHandTunedValues } from './parameters.ts';

/**
 * Where the steps of a training are taken: on the `host` in float64, which reads the gradient of every step back, or on
 * the `device` in float32, which reads back once an epoch. The losses of both agree within 1e-6.
 */
export type StepPlace = 'host' | 'device';

/** The options of the steps of a training. */
export interface StepOptions extends AdamOptions {
  /** Weight of the squared distance of the free numbers from the hand-tuned start. */
  readonly l2: number;
}

/** The free numbers after an epoch. */
interface Epoch {
  /** [P] */
  readonly theta: Float64Array;
  /** [steps] the mean loss of each step's queries, before it. */
  readonly losses: readonly number[];
  /** Row-major [Q, C] of the scorer's table after the epoch; null without a scorer. */
  readonly scores: Float32Array | null;
}

/** Takes the steps of a training. */
interface Steps {
  /**
   * A step for each objective, in their order.
   *
   * @throws NotFiniteError for a loss, gradient or free number that is not finite.
   */
  runEpoch(objectives: readonly TrainingObjective[], scorer: TableScorer | null): Promise<Epoch>;
  dispose(): void;
}

/** The hand-tuned free numbers, which a penalty pulls towards. [P] */
export function listFreeHandTuned(model: ScoringModel): Float64Array {
  return freeValues(model, listHandTunedValues(model));
}

function createHostSteps(model: ScoringModel, start: Float64Array, options: StepOptions): Steps {
  const anchor = listFreeHandTuned(model);
  const penalise = (gradient: Float64Array, theta: Float64Array) =>
    gradient.map((slope, i) => slope + 2 * options.l2 * (theta[i]! - anchor[i]!));
  let state = createAdamState(start);
  return {
    runEpoch: async (objectives, scorer) => {
      const losses: number[] = [];
      for (const objective of objectives) {
        const { loss, gradient } = await objective.computeLossAt(state.theta);
        state = takeAdamStep(state, penalise(gradient, state.theta), options);
        losses.push(loss);
      }
      const { theta } = state;
      return { theta, losses, scores: scorer && (await scorer.scoreWith(constrainValues(model, theta))) };
    },
    dispose() {},
  };
}

/** {@link Steps} whose free numbers and running means stay on the device. */
class DeviceSteps implements Steps {
  readonly #model: ScoringModel;
  readonly #options: StepOptions;
  /** [P] */
  readonly #anchor: tf.Tensor1D;
  #state: AdamTensors;

  constructor(model: ScoringModel, start: Float64Array, options: StepOptions) {
    this.#model = model;
    this.#options = options;
    const { anchor, ...state } = scoped('DeviceSteps', () => ({
      anchor: tf.tensor1d(Float32Array.from(listFreeHandTuned(model))),
      theta: tf.tensor1d(Float32Array.from(start)),
      first: tf.zeros<tf.Rank.R1>([start.length]),
      second: tf.zeros<tf.Rank.R1>([start.length]),
    }));
    this.#anchor = anchor;
    this.#state = { step: 0, ...state };
  }

  async runEpoch(objectives: readonly TrainingObjective[], scorer: TableScorer | null): Promise<Epoch> {
    const numbers = await readBack('DeviceSteps', () => this.#computeEpoch(objectives, scorer));
    let at = 0;
    const take = (count: number) => {
      at += count;
      return numbers.subarray(at - count, at);
    };
    const losses = objectives.map((objective) => objective.averageLosses(take(objective.queries)));
    const theta = Float64Array.from(take(this.#anchor.size));
    // A gradient that is no number leaves free numbers that are none, in all later steps too.
    const wrong = [...losses, ...theta].find((value) => !Number.isFinite(value));
    if (wrong !== undefined)
      throw new NotFiniteError('loss or its gradient', `one of the ${this.#state.step} steps so far`, wrong);
    return { theta, losses, scores: scorer && numbers.slice(at) };
  }

  /** [B of each objective + P + Q C] their losses, the free numbers after all steps, and the scores by them. */
  #computeEpoch(objectives: readonly TrainingObjective[], scorer: TableScorer | null): tf.Tensor1D {
    let state = this.#state;
    const parts: tf.Tensor1D[] = [];
    for (const objective of objectives) {
      const step = state.step + 1;
      const { losses, ...tensors } = scoped('step', () => this.#takeStep(state, objective));
      state = { step, ...tensors };
      parts.push(losses);
    }
    parts.push(state.theta);
    if (scorer !== null)
      parts.push(tf.reshape(scorer.score(constrainTensors(this.#model, state.theta).values), [-1]) as tf.Tensor1D);
    const joined = tf.concat(parts);
    if (state !== this.#state) this.#replaceState(state);
    return joined;
  }

  #takeStep(state: AdamTensors, objective: TrainingObjective) {
    const { values, pullBack } = constrainTensors(this.#model, state.theta);
    const { losses, gradients } = objective.differentiate(values);
    const penalty = tf.mul(tf.sub(state.theta, this.#anchor), 2 * this.#options.l2);
    const gradient: tf.Tensor1D = tf.add(pullBack(gradients), penalty);
    const { theta, first, second } = takeAdamStepOnDevice(state, gradient, this.#options);
    return { losses, theta, first, second };
  }

  #replaceState({ step, ...tensors }: AdamTensors): void {
    const { step: _, ...before } = this.#state;
    this.#state = { step, ...tensors };
    for (const tensor of Object.values(tensors)) tf.keep(tensor);
    tf.dispose(before);
  }

  dispose(): void {
    const { step: _, ...tensors } = this.#state;
    tf.dispose([this.#anchor, ...Object.values(tensors)]);
  }
}

/** On `cuda` and `webgpu` a read-back waits for all that was launched; elsewhere it copies numbers. */
function choosePlace(): StepPlace {
  return readsFromCard() ? 'device' : 'host';
}

/** @param place by default `device` on `cuda` and `webgpu`, and else `host` */
export function createSteps(
  model: ScoringModel,
  start: Float64Array,
  options: StepOptions,
  place = choosePlace(),
): Steps {
  return place === 'device' ? new DeviceSteps(model, start, options) : createHostSteps(model, start, options);
}
