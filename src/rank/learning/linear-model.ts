import * as tf from '@tensorflow/tfjs-core';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { parse } from '../../core/validation/validation.ts';
import { multiplyColumns, uploadFeatures } from './column-product.ts';
import type { ModelDefinition, ScoringModel } from './model.ts';
import { nameParameterValues, type ParameterSpec } from './parameters.ts';
import { assertStandardisation, type Standardisation, standardiseSignals } from './standardisation.ts';

/** The signals of a linear model, which of them have weights that are not negative (by default none), and the weights at the start. */
export interface LinearModelOptions {
  readonly signals: readonly string[];
  /** Signals of which more is never worse: their weights are not negative. */
  readonly nonNegative?: readonly string[];
  /** Hand-tuned weights of standardised signals; by default 0, and {@link START} for a weight that must not be negative. */
  readonly initial?: Readonly<Record<string, number>>;
}

/** A linear mix of signals, `sum_f w_f (x_f - mean_f) / deviation_f`. */
export interface LinearModel extends ScoringModel {
  readonly standardisation: Standardisation;
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

function selectStandardisation(
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

/**
 * @param standardisation of `signals` in this order, fitted on the rows that the model is trained on
 * @throws ValidationError for an option that names no signal, DimensionMismatchError for a standardisation of other ones.
 */
export function createLinearModel(options: LinearModelOptions, standardisation: Standardisation): LinearModel {
  const { signals, nonNegative = [], initial = {} } = options;
  assertStandardisation(standardisation, signals);
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
    standardisation,
    config: { ...options, nonNegative, initial },
    constants: { ...standardisation },
    parameters: used.map(([name, labels]) => buildWeightSpec(name, labels, initial)),
    upload: (table) =>
      scoped('createLinearModel', () => {
        const inputs: Record<string, tf.Tensor> = {};
        for (const [name, labels] of used) {
          const values = standardiseSignals(table, labels, selectStandardisation(standardisation, signals, labels));
          const { rows, columns } = uploadFeatures(values, [table.queryIds.length, table.width, labels.length]);
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
