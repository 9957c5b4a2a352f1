import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { matmul } from '../../core/tensors/matmul.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { parse } from '../../core/validation/validation.ts';
import { NORMALISATIONS, type Normalisation, standardiseQuestions } from '../signals/bank/normalisation.ts';
import { type FeatureTable, findSignalPositions } from './feature-table.ts';
import type { ModelDefinition, ScoringModel } from './model.ts';
import { nameParameterValues, type ParameterSpec } from './parameters.ts';
import { assertStandardisation, type Standardisation, standardiseSignals } from './standardisation.ts';

/** A step whose gradient is written out instead of being put together of its parts. */
interface Step<Y extends tf.Tensor, G> {
  readonly value: Y;
  /** The intermediate tensors that the gradient needs; others are disposed before. Wasm copies them. */
  readonly saved: tf.Tensor[];
  /** The gradient by the inputs, of their shapes, from that by the value. */
  readonly gradient: (dy: Y, saved: tf.Tensor[]) => G;
}

/** Computes a step of a differentiable function of several inputs. */
export function withGradients<X extends tf.Tensor[], Y extends tf.Tensor>(
  inputs: X,
  step: (...inputs: X) => Step<Y, tf.Tensor[]>,
): Y {
  const op = tf.customGrad<Y>((...given) => {
    const save = given.pop() as tf.GradSaveFunc;
    const { value, saved, gradient } = step(...(given as X));
    save(saved);
    return { value, gradFunc: gradient };
  });
  return op(...inputs);
}

/** Computes a step of a differentiable function of `x`. */
export function withGradient<X extends tf.Tensor, Y extends tf.Tensor>(x: X, step: (x: X) => Step<Y, tf.Tensor>): Y {
  return withGradients([x], (given) => {
    const { gradient, ...rest } = step(given as X);
    return { ...rest, gradient: (dy: Y, saved: tf.Tensor[]) => [gradient(dy, saved)] };
  });
}

/**
 * Constant features of pairs, twice: on wasm a row times a matrix takes half as long as a matrix times a column, there
 * and back.
 */
interface FeatureColumns {
  /** [B, C, F] */
  readonly rows: tf.Tensor3D;
  /** [F, B C] */
  readonly columns: tf.Tensor2D;
}

/** Puts features on the device. @param values row-major [B, C, F] */
export function uploadFeatures(values: Float32Array, shape: [number, number, number]): FeatureColumns {
  return scoped('uploadFeatures', () => {
    const rows = tf.tensor3d(values, shape);
    return { rows, columns: tf.transpose(tf.reshape(rows, [shape[0] * shape[1], shape[2]])) as tf.Tensor2D };
  });
}

/**
 * Weighted sums of features, which are not differentiated. 4 B C F operations with the gradient.
 *
 * @param features must live until the gradient is computed, since wasm copies what is saved for it
 * @param weights [F]
 * @returns [B, C]
 */
export function multiplyColumns({ rows, columns }: FeatureColumns, weights: tf.Tensor1D): tf.Tensor2D {
  const sizes = assertShape('features', rows, 'B C F');
  assertShape('weights', weights, 'F', sizes);
  const [queries, candidates, count] = rows.shape;
  const pairs = queries * candidates;
  return withGradient(weights, (given) => ({
    value: tf.reshape(matmul(tf.reshape(given, [1, count]), columns), [queries, candidates]) as tf.Tensor2D,
    saved: [],
    gradient: (dy) => tf.reshape(matmul(tf.reshape(dy, [1, pairs]), tf.reshape(rows, [pairs, count])), [count]),
  }));
}

/** The signals of a linear model, which of them have weights that are not negative (by default none), and the weights at the start. */
export interface LinearModelOptions {
  readonly signals: readonly string[];
  /** Signals of which more is never worse: their weights are not negative. */
  readonly nonNegative?: readonly string[];
  /** Hand-tuned weights of standardised signals; by default 0, and {@link START} for a weight that must not be negative. */
  readonly initial?: Readonly<Record<string, number>>;
  /** The candidates that signals are standardised over: by default `pool`, those of all training rows. */
  readonly normalise?: Normalisation | undefined;
}

/** A linear mix of signals, `sum_f w_f (x_f - mean_f) / deviation_f`. */
export interface LinearModel extends ScoringModel {
  readonly normalise: Normalisation;
  /** Constants of all rows; means of 0 and deviations of 1 if signals are standardised by question. */
  readonly standardisation: Standardisation;
  /** The values that the weights of some signals multiply: row-major [Q C, F], 0 where padded. */
  standardise(table: FeatureTable, signals: readonly string[]): Float32Array;
}

/** Softplus is flat near 0: weights that start there hardly move. */
const START = 0.1;

const FREE = 'weights';
const NON_NEGATIVE = 'nonNegativeWeights';

function buildWeightSpec(
  name: string,
  labels: readonly string[],
  initial: Readonly<Record<string, number>>,
): ParameterSpec {
  const isFree = name === FREE;
  return {
    name,
    labels,
    constraint: isFree ? 'free' : 'positive',
    initial: labels.map((label) => initial[label] ?? (isFree ? 0 : START)),
    uniform: labels.map(() => 1),
    range: isFree ? [-1, 1] : [0.01, 1],
  };
}

/** The constants of some signals. @param signals those of `all` */
export function selectStandardisation(
  all: Standardisation,
  signals: readonly string[],
  labels: readonly string[],
): Standardisation {
  const pick = (numbers: Float64Array) => Float64Array.from(labels, (label) => numbers[signals.indexOf(label)]!);
  return { means: pick(all.means), deviations: pick(all.deviations) };
}

const nameTransposed = (name: string) => `${name}, transposed`;

function assertNamed(what: string, names: readonly string[], signals: readonly string[]): void {
  const unknown = names.find((name) => !signals.includes(name));
  if (unknown !== undefined)
    throw new ValidationError(`${what} names a signal that is not in the model: ${unknown}; use signals of the model`, {
      unknown,
    });
}

function standardiseTable(table: FeatureTable, signals: readonly string[]): Float32Array {
  const { values, width, mask } = table;
  const columns = findSignalPositions(table, signals);
  return standardiseQuestions({ values, stride: table.signals.length, columns, width, mask });
}

/**
 * @param standardisation of `signals` in this order, fitted on the rows that the model is trained on; not used with
 *   `normalise: question`
 * @throws ValidationError for an option that names no signal, DimensionMismatchError for a standardisation of other ones.
 */
export function createLinearModel(options: LinearModelOptions, standardisation: Standardisation): LinearModel {
  const { normalise = 'pool', ...others } = options;
  const { signals, nonNegative = [], initial = {} } = others;
  assertStandardisation(standardisation, signals);
  const byQuestion = normalise === 'question';
  const constants = byQuestion
    ? { means: new Float64Array(signals.length), deviations: new Float64Array(signals.length).fill(1) }
    : standardisation;
  const standardise = (table: FeatureTable, labels: readonly string[]) =>
    byQuestion
      ? standardiseTable(table, labels)
      : standardiseSignals(table, labels, selectStandardisation(constants, signals, labels));
  assertNamed('nonNegative', nonNegative, signals);
  assertNamed('initial', Object.keys(initial), signals);
  const groups = [
    [FREE, signals.filter((signal) => !nonNegative.includes(signal))],
    [NON_NEGATIVE, signals.filter((signal) => nonNegative.includes(signal))],
  ] as const;
  const used = groups.filter(([, labels]) => labels.length > 0);
  return {
    name: 'linear',
    signals,
    normalise,
    standardisation: constants,
    standardise,
    config: { ...others, nonNegative, initial, ...(byQuestion ? { normalise } : {}) },
    constants: { ...constants },
    parameters: used.map(([name, labels]) => buildWeightSpec(name, labels, initial)),
    upload: (table) =>
      scoped('createLinearModel', () => {
        const inputs: Record<string, tf.Tensor> = {};
        for (const [name, labels] of used) {
          const { rows, columns } = uploadFeatures(standardise(table, labels), [
            table.queryIds.length,
            table.width,
            labels.length,
          ]);
          inputs[name] = rows;
          inputs[nameTransposed(name)] = columns;
        }
        return inputs;
      }),
    score: (parameters, inputs) =>
      scoped('createLinearModel', () => {
        const parts = used.map(([name]) => {
          const features = { rows: inputs[name] as tf.Tensor3D, columns: inputs[nameTransposed(name)] as tf.Tensor2D };
          return multiplyColumns(features, parameters[name] as tf.Tensor1D);
        });
        return parts.reduce((sum, part) => tf.add(sum, part));
      }),
  };
}

/** Weights of the signals without standardisation, with the same ranking: standardisation subtracts the same value from all candidates of a query. */
export function computeRawWeights(model: LinearModel, values: Float64Array): Record<string, number> {
  const { signals, standardisation } = model;
  const byLabel = Object.assign({}, ...Object.values(nameParameterValues(model, values))) as Record<string, number>;
  return Object.fromEntries(
    signals.map((signal, f) => [signal, (byLabel[signal] as number) / standardisation.deviations[f]!]),
  );
}

const configSchema = z.strictObject({
  signals: z.array(z.string()).min(1),
  nonNegative: z.array(z.string()),
  initial: z.record(z.string(), z.number()),
  normalise: z.enum(NORMALISATIONS).optional(),
});

function numbers(constants: ScoringModel['constants'], name: string): Float64Array {
  const found = constants[name];
  if (found === undefined)
    throw new ValidationError(`constants of the model are missing: ${name}; train the weights again`, { name });
  return found;
}

export const linear: ModelDefinition = {
  name: 'linear',
  description: 'a linear mix of signals, each standardised',
  restore: (config, constants, source) =>
    createLinearModel(parse(configSchema, config, source), {
      means: numbers(constants, 'means'),
      deviations: numbers(constants, 'deviations'),
    }),
};
