import { freezeDeeply } from '../../core/values/frozen.ts';

/** Maps a free number theta of an optimiser to a parameter within its domain. Few numbers, so float64 on the host. */
export interface Constraint {
  /** The parameter that theta stands for. */
  apply(theta: Float64Array): Float64Array;
  /** A theta that stands for values; those on the edge of the domain, which no theta reaches, are moved {@link EDGE} inside. */
  inverse(values: ArrayLike<number>): Float64Array;
  /** The gradient by theta from that by the parameter. */
  pullBack(theta: Float64Array, gradient: ArrayLike<number>): Float64Array;
  /** Whether the number is within the domain. */
  holds(value: number): boolean;
}

/** The minimum distance of a parameter's start from the edge of its domain. */
export const EDGE = 0.01;

const sigmoid = (x: number) => (x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x)));
const softplus = (x: number) => Math.max(x, 0) + Math.log1p(Math.exp(-Math.abs(x)));

function defineElementwise(
  apply: (theta: number) => number,
  inverse: (value: number) => number,
  slope: (theta: number) => number,
) {
  return {
    apply: (theta: Float64Array) => theta.map(apply),
    inverse: (values: ArrayLike<number>) => Float64Array.from(values, inverse),
    pullBack: (theta: Float64Array, gradient: ArrayLike<number>) => theta.map((x, i) => slope(x) * gradient[i]!),
  };
}

const free: Constraint = {
  ...defineElementwise(
    (theta) => theta,
    (value) => value,
    () => 1,
  ),
  holds: (value) => Number.isFinite(value),
};

/** softplus(theta) = ln(1 + e^theta) */
const positive: Constraint = {
  ...defineElementwise(
    softplus,
    (value) => {
      const inside = Math.max(value, EDGE);
      return inside + Math.log(-Math.expm1(-inside));
    },
    sigmoid,
  ),
  holds: (value) => value >= 0 && Number.isFinite(value),
};

/** 1 / (1 + e^-theta) */
const unit: Constraint = {
  ...defineElementwise(
    sigmoid,
    (value) => {
      const inside = Math.min(Math.max(value, EDGE), 1 - EDGE);
      return Math.log(inside / (1 - inside));
    },
    (theta) => sigmoid(theta) * sigmoid(-theta),
  ),
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
/** The name of the domain of a parameter, one of {@link CONSTRAINTS}: `free`, `positive`, `unit` (between 0 and 1) or `simplex` (shares that sum to 1). */
export type ConstraintName = keyof typeof CONSTRAINTS;
