import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { prefersPlainProducts } from '../../core/tensors/backend.ts';
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
 * Constant features of pairs, twice: on wasm a vector times a matrix takes a fraction of the time of a matrix times a
 * vector, there and back.
 */
interface Features {
  /** [F, B, C] */
  readonly columns: tf.Tensor3D;
  /** [B C, features of the block] each: all features, in blocks. */
  readonly rows: readonly tf.Tensor2D[];
}

/** Features of a block on wasm, which rearranges each right matrix before its first product, narrow ones in order. */
const BLOCK = 32;

/**
 * Puts features on the device.
 *
 * @param shape B, C and F
 * @param readBlock the values of the features from `start` to before `end`, row-major [B, C, end - start]
 */
export function uploadFeatures(
  [queries, candidates, count]: readonly [number, number, number],
  readBlock: (start: number, end: number) => Float32Array,
): Features {
  const width = prefersPlainProducts() ? BLOCK : count;
  return scoped('uploadFeatures', () => {
    const rows: tf.Tensor2D[] = [];
    for (let start = 0; start < count; start += width) {
      const end = Math.min(start + width, count);
      rows.push(tf.tensor2d(readBlock(start, end), [queries * candidates, end - start]));
    }
    const columns = tf.concat(rows.map((block) => tf.transpose(block)));
    return { columns: tf.reshape(columns, [count, queries, candidates]) as tf.Tensor3D, rows };
  });
}

const nameBlock = (name: string, block: number) => `${name}, block ${block}`;

/** Features as inputs of a model. */
export function nameFeatures(name: string, { columns, rows }: Features): tf.NamedTensorMap {
  return { [name]: columns, ...Object.fromEntries(rows.map((block, i) => [nameBlock(name, i), block])) };
}

/** The features of {@link nameFeatures}. */
export function findFeatures(inputs: tf.NamedTensorMap, name: string): Features {
  const rows: tf.Tensor2D[] = [];
  for (let block = inputs[nameBlock(name, 0)]; block !== undefined; block = inputs[nameBlock(name, rows.length)])
    rows.push(block as tf.Tensor2D);
  return { columns: inputs[name] as tf.Tensor3D, rows };
}

/**
 * Weighted sums of features, which are not differentiated. 4 B C F operations with the gradient.
 *
 * @param features must live until the gradient is computed, since wasm copies what is saved for it
 * @param weights [F]
 * @returns [B, C]
 */
export function multiplyColumns({ columns, rows }: Features, weights: tf.Tensor1D): tf.Tensor2D {
  const sizes = assertShape('features', columns, 'F B C');
  assertShape('weights', weights, 'F', sizes);
  const [count, queries, candidates] = columns.shape;
  const pairs = queries * candidates;
  const multiply = (given: tf.Tensor1D) =>
    matmul(tf.reshape(given, [1, count]), tf.reshape(columns, [count, pairs]) as tf.Tensor2D);
  return withGradient(weights, (given) => ({
    value: tf.reshape(multiply(given), [queries, candidates]) as tf.Tensor2D,
    saved: [],
    gradient: (dy) => {
      const slopes = tf.reshape(dy, [1, pairs]) as tf.Tensor2D;
      return tf.reshape(
        tf.concat(
          rows.map((block) => matmul(slopes, block)),
          1,
        ),
        [count],
      );
    },
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
      scoped('createLinearModel', () =>
        Object.assign(
          {},
          ...used.map(([name, labels]) => {
            const shape = [table.queryIds.length, table.width, labels.length] as const;
            return nameFeatures(
              name,
              uploadFeatures(shape, (...block) => standardise(table, labels.slice(...block))),
            );
          }),
        ),
      ),
    score: (parameters, inputs) =>
      scoped('createLinearModel', () => {
        const parts = used.map(([name]) =>
          multiplyColumns(findFeatures(inputs, name), parameters[name] as tf.Tensor1D),
        );
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
