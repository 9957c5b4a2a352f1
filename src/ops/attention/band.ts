/**
 * The width of a band for a given accuracy.
 *
 * Row i of the exact output is N / D with N = Σ e^l_j v_j and D = Σ e^l_j over its admissible keys. The banded row
 * takes c for e^l_j where the key is more than W steps away, c = 1 (multiplicative) or 0 (additive). Semantic
 * similarity lies in [0, 1], so a multiplicative logit is at least 0, and in both forms δ = Σ_far (e^l_j - c) >= 0.
 * Write r = Σ_far (e^l_j - c) v_j for the omitted part; for values of length 1 at most, |r| <= δ. The banded row o = (N
 * - r) / (D - δ) is a mean of values with weights that are not negative, so |o| <= 1 too, and N / D - o = (r - δ o) /
 * D: **a row is off by at most 2 δ / D**. What remains is to bound the share δ / D, with x = exp(-decay (W + 1)) /
 * temperature, the largest far logit.
 *
 * Multiplicative: (e^l - 1) / e^l <= 1 - e^-x for each far key, so δ / D <= 1 - e^-x <= e^x - 1. Besides, e^l - 1 <= l
 * (e^x - 1) / x since e^l is convex, and with at most two keys at each distance δ <= 2 (e^x - 1) / (1 - e^-decay),
 * while D is at least the number of admissible keys, each of which weighs 1 or more: all of them without a direction, W
 * + 2 with one (a row that sees a far key sees all nearer ones on that side), one less where self is excluded.
 *
 * Additive: a row that sees any other turn sees one at most g steps away, of logit -g decay or more, so D >= e^(-g
 * decay), and δ <= 2 Σ_{d > W} exp(1 / temperature - decay d) = 2 exp(1 / temperature - decay (W + 1)) / (1 -
 * e^-decay). Where no key is masked, g = 1.
 *
 * With masked keys the first multiplicative bound stands as it is; in the second, D is at least the number of keys that
 * are not masked without a direction, and 1 with one. Queries need not be as many as the turns, nor be at different
 * positions: every step holds row by row.
 */
import { ValidationError } from '../../core/errors/errors.ts';
import type { CheckedRows } from './attention-rows.ts';
import type { LogitOptions, RingAttentionOptions } from './options.ts';

/** Bounds on the keys of a row in a conversation with masked keys. */
interface KeySupport {
  /** Keys that are not masked. */
  readonly keys: number;
  /** Most steps, 1 at least, from a query that sees any key to the nearest that it sees. */
  readonly nearest: number;
}

/** [T + 1] the last key before each position that is not masked, -1 if none. */
function findLastBefore(keyMask: Uint8Array): Int32Array {
  const last = new Int32Array(keyMask.length + 1);
  last[0] = -1;
  for (let ringPosition = 0; ringPosition < keyMask.length; ringPosition++)
    last[ringPosition + 1] = keyMask[ringPosition] === 0 ? (last[ringPosition] as number) : ringPosition;
  return last;
}

/**
 * @returns undefined if no key is masked: a query then sees all keys that its direction lets it see, down to its
 *   neighbour
 */
export function buildKeySupport(rows: CheckedRows, options: RingAttentionOptions): KeySupport | undefined {
  const { keyMask, turns, ringPositions } = rows;
  if (keyMask === undefined) return undefined;
  const { topology, direction, self } = options;
  const before = findLastBefore(keyMask);
  const mirrored = findLastBefore(keyMask.toReversed());
  const findFirstAfter = (ringPosition: number) => turns - 1 - (mirrored[turns - ringPosition] as number);
  const [first, last] = [findFirstAfter(0), before[turns] as number];
  let nearest = 1;
  for (const ringPosition of ringPositions) {
    const reach = self === 'include' ? 0 : 1;
    // On a ring the furthest keys along the line may be the nearest in the other direction.
    const seen = [before[ringPosition + 1 - reach] as number, findFirstAfter(ringPosition + reach), first, last];
    const steps = seen
      .filter((key) => {
        if (key < 0 || key >= turns || (self === 'exclude' && key === ringPosition)) return false;
        return direction === 'none' || (direction === 'causal' ? key <= ringPosition : key >= ringPosition);
      })
      .map((key) => {
        const distance = Math.abs(key - ringPosition);
        return topology === 'ring' ? Math.min(distance, turns - distance) : distance;
      });
    if (steps.length > 0) nearest = Math.max(nearest, Math.min(...steps));
  }
  return { keys: keyMask.reduce((sum, isSeen) => sum + Number(isSeen !== 0), 0), nearest };
}

/**
 * The least W such that keys more than W steps away need no look, however many there are: their sum in a row's
 * denominator is off by at most `tolerance` of that denominator when each counts e^0 = 1 (multiplicative) or 0
 * (additive). Infinity when they don't fade (decay 0).
 *
 * @throws ValidationError for a tolerance that is not positive.
 */
export function computeBandWidth(
  { combine, decay: distanceDecay, temperature }: LogitOptions,
  tolerance: number,
): number {
  if (!(tolerance > 0))
    throw new ValidationError(`tolerance of a band is not positive: ${tolerance}; pass a number above 0`, {
      tolerance,
    });
  if (distanceDecay === 0) return Number.POSITIVE_INFINITY;
  const exponent =
    combine === 'multiplicative'
      ? -Math.log(temperature * Math.log1p(tolerance))
      : Math.LN2 + 1 / temperature - Math.log1p(-Math.exp(-distanceDecay)) - Math.log(tolerance);
  return Math.max(1, Math.ceil(exponent / distanceDecay));
}

/** @throws ValidationError for a negative tolerance. */
export function assertTolerance(tolerance: number): void {
  if (!(tolerance >= 0))
    throw new ValidationError(`tolerance is negative: ${tolerance}; pass 0 for dense attention, or a number above 0`, {
      tolerance,
    });
}

/** Steps to the furthest turn. */
function countFurthestSteps(turns: number, { topology }: RingAttentionOptions): number {
  return topology === 'ring' ? Math.floor(turns / 2) : turns - 1;
}

/** The largest share δ / D. */
function computeFarShare(turns: number, width: number, options: RingAttentionOptions, support?: KeySupport): number {
  const { combine, direction, self, decay: distanceDecay, temperature } = options;
  const fading = -Math.expm1(-distanceDecay);
  const nearest = support?.nearest ?? 1;
  if (combine === 'additive')
    return Math.min(1, (2 * Math.exp(1 / temperature - distanceDecay * (width + 1 - nearest))) / fading);
  const logit = Math.exp(-distanceDecay * (width + 1)) / temperature;
  const whole = support === undefined ? width + 2 : 1;
  const seen = (direction === 'none' ? (support?.keys ?? turns) : whole) - (self === 'exclude' ? 1 : 0);
  return Math.min(-Math.expm1(-logit), (2 * Math.expm1(logit)) / fading / Math.max(seen, 1));
}

/**
 * The proven bound on the Euclidean distance between a row of banded attention and the exact one, for values of length
 * 1 at most and exact arithmetic.
 *
 * @param turns n
 * @param width W
 * @param support if keys are masked
 */
export function computeBandError(
  turns: number,
  width: number,
  options: RingAttentionOptions,
  support?: KeySupport,
): number {
  return width >= countFurthestSteps(turns, options) ? 0 : 2 * computeFarShare(turns, width, options, support);
}

/**
 * The least W, 1 at least, whose {@link computeBandError} is within the tolerance; the furthest turn's distance if no
 * narrower band is, as with a tolerance of 0.
 *
 * @throws ValidationError for a negative tolerance.
 */
export function findLeastBandWidth(
  turns: number,
  tolerance: number,
  options: RingAttentionOptions,
  support?: KeySupport,
): number {
  assertTolerance(tolerance);
  let low = 1;
  let high = Math.max(1, countFurthestSteps(turns, options));
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (computeBandError(turns, middle, options, support) <= tolerance) high = middle;
    else low = middle + 1;
  }
  return low;
}
