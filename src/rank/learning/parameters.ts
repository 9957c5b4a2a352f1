import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { sumsToOne } from '../../core/validation/validation.ts';
import { freezeDeeply } from '../../core/values/once.ts';

/** Maps a free number theta of an optimiser to a parameter within its domain. Few numbers, so float64 on the host. */
interface Constraint {
  /** The parameter that theta stands for. */
  apply(theta: Float64Array): Float64Array;
  /**
   * A theta that stands for values; those on the edge of the domain, which no theta reaches, are moved {@link EDGE}
   * inside.
   */
  inverse(values: ArrayLike<number>): Float64Array;
  /** The gradient by theta from that by the parameter. */
  pullBack(theta: Float64Array, gradient: ArrayLike<number>): Float64Array;
  /** True if the number is within the domain. */
  holds(value: number): boolean;
}

/** The minimum distance of a parameter's start from the edge of its domain. */
export const EDGE = 0.01;

const sigmoid = (x: number) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));
const slopeOfSigmoid = (x: number) => sigmoid(x) * sigmoid(-x);

function invertSoftplus(value: number): number {
  const inside = Math.max(value, EDGE);
  return inside + Math.log(-Math.expm1(-inside));
}

function invertSigmoid(value: number): number {
  const inside = Math.min(Math.max(value, EDGE), 1 - EDGE);
  return Math.log(inside / (1 - inside));
}

const free: Constraint = {
  apply: (theta) => theta.slice(),
  inverse: (values) => Float64Array.from(values),
  pullBack: (_, gradient) => Float64Array.from(gradient),
  holds: (value) => Number.isFinite(value),
};

/** softplus(theta) = ln(1 + e^theta) */
const positive: Constraint = {
  apply: (theta) => theta.map(softplus),
  inverse: (values) => Float64Array.from(values, invertSoftplus),
  pullBack: (theta, gradient) => theta.map((x, i) => sigmoid(x) * gradient[i]!),
  holds: (value) => value >= 0 && Number.isFinite(value),
};

/** 1 / (1 + e^-theta) */
const unit: Constraint = {
  apply: (theta) => theta.map(sigmoid),
  inverse: (values) => Float64Array.from(values, invertSigmoid),
  pullBack: (theta, gradient) => theta.map((x, i) => slopeOfSigmoid(x) * gradient[i]!),
  holds: (value) => value >= 0 && value <= 1,
};

/** softmax(theta): shares that sum to 1. */
const simplex: Constraint = {
  apply(theta) {
    const greatest = theta.reduce((most, x) => Math.max(most, x), Number.NEGATIVE_INFINITY);
    const powers = theta.map((x) => Math.exp(x - greatest));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => power / sum);
  },
  inverse: (values) => Float64Array.from(values, (share) => Math.log(Math.max(share, EDGE))),
  pullBack(theta, gradient) {
    const shares = simplex.apply(theta);
    const mean = shares.reduce((sum, share, i) => sum + share * gradient[i]!, 0);
    return shares.map((share, i) => share * (gradient[i]! - mean));
  },
  holds: (value) => value >= 0 && value <= 1,
};

/** By their names in parameters and weight files. */
export const CONSTRAINTS = freezeDeeply({ free, positive, unit, simplex } as const satisfies Readonly<
  Record<string, Constraint>
>);
/**
 * The name of the domain of a parameter, one of {@link CONSTRAINTS}: `free`, `positive`, `unit` (between 0 and 1) or
 * `simplex` (shares that sum to 1).
 */
export type ConstraintName = keyof typeof CONSTRAINTS;

/** A group of numbers that is learned. */
export interface ParameterSpec {
  readonly name: string;
  /** The name of each of its numbers; the parameter's own name for a single number. */
  readonly labels: readonly string[];
  readonly constraint: ConstraintName;
  /** [labels] hand-tuned values in the domain of the constraint; training starts here. */
  readonly initial: readonly number[];
  /** [labels] uninformed values in the domain of the constraint. */
  readonly uniform: readonly number[];
  /** The range in which a search draws; logarithmic for positive parameters. Unused for shares of a whole. */
  readonly range: readonly [number, number];
}

/** A model with numbers to learn. */
export interface Parametric {
  readonly parameters: readonly ParameterSpec[];
}

/** The number of numbers that a model learns. */
export function countParameters({ parameters }: Parametric): number {
  return parameters.reduce((sum, { labels }) => sum + labels.length, 0);
}

/** Each parameter with its part of a vector of all numbers. */
export function* splitParameters(
  { parameters }: Parametric,
  numbers: Float64Array,
): Generator<[ParameterSpec, Float64Array]> {
  let start = 0;
  for (const spec of parameters) {
    yield [spec, numbers.subarray(start, start + spec.labels.length)];
    start += spec.labels.length;
  }
}

function joinParameters(
  model: Parametric,
  numbers: Float64Array,
  map: (spec: ParameterSpec, part: Float64Array) => ArrayLike<number>,
) {
  const result = new Float64Array(numbers.length);
  let start = 0;
  for (const [spec, part] of splitParameters(model, numbers)) {
    result.set(map(spec, part), start);
    start += part.length;
  }
  return result;
}

/** The values of each parameter, one after the other. */
export function chooseParameterValues(
  model: Parametric,
  choose: (spec: ParameterSpec) => ArrayLike<number>,
): Float64Array {
  return joinParameters(model, new Float64Array(countParameters(model)), choose);
}

/** The values that free numbers stand for. @param theta [P] */
export function constrainValues(model: Parametric, theta: Float64Array): Float64Array {
  return joinParameters(model, theta, ({ constraint }, part) => CONSTRAINTS[constraint].apply(part));
}

/** The values that training starts from, [P]. */
export function listHandTunedValues(model: Parametric): Float64Array {
  return chooseParameterValues(model, ({ initial }) => initial);
}

/** Every number alike, [P]. */
export function listUniformValues(model: Parametric): Float64Array {
  return chooseParameterValues(model, ({ uniform }) => uniform);
}

/** Free numbers that stand for values. @param values [P] */
export function freeValues(model: Parametric, values: Float64Array): Float64Array {
  assertValues(model, values);
  return joinParameters(model, values, ({ constraint }, part) => CONSTRAINTS[constraint].inverse(part));
}

/** The gradient by the free numbers from that by the values. @param gradient [P] */
export function pullBackGradient(model: Parametric, theta: Float64Array, gradient: Float64Array): Float64Array {
  const parts = [...splitParameters(model, gradient)].map(([, part]) => part);
  return joinParameters(model, theta, (spec, part) =>
    CONSTRAINTS[spec.constraint].pullBack(part, parts[model.parameters.indexOf(spec)] as Float64Array),
  );
}

/** By parameter's name, then by label: for display and reports. */
export function nameParameterValues(model: Parametric, values: Float64Array): Record<string, Record<string, number>> {
  return Object.fromEntries(
    [...splitParameters(model, values)].map(([{ name, labels }, part]) => [
      name,
      Object.fromEntries(labels.map((label, i) => [label, part[i] as number])),
    ]),
  );
}

/** The tolerance of the sum of shares against 1. */
const SHARE_TOLERANCE = 1e-6;

/** @throws DimensionMismatchError for another number of values, ValidationError for one outside its domain. */
export function assertValues(model: Parametric, values: Float64Array): void {
  if (values.length !== countParameters(model))
    throw new DimensionMismatchError('parameter values', countParameters(model), values.length);
  for (const [{ name, labels, constraint }, part] of splitParameters(model, values)) {
    const wrong = part.findIndex((value) => !CONSTRAINTS[constraint].holds(value));
    if (wrong !== -1)
      throw new ValidationError(
        `parameter ${name} of ${labels[wrong]} is not ${constraint}: ${part[wrong]}; pass a value within its constraint`,
      );
    if (constraint === 'simplex' && !sumsToOne([...part], SHARE_TOLERANCE))
      throw new ValidationError(`parameter ${name} does not sum to 1: ${part.join(', ')}; scale its shares`);
  }
}
