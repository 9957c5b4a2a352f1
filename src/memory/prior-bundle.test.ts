import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../core/errors.ts';
import { computeExactMoments } from './moments.oracle.ts';
import { LARGEST_OUTCOME } from './outcome-statistics.ts';
import { computePriors, type KnownPrior } from './prior-bundle.ts';

const toRecords = (outcomes: readonly (number | null)[]) => outcomes.map((outcome) => ({ outcome }));
const computeKnown = (outcomes: readonly number[], weights: readonly number[] | null = null) =>
  computePriors(toRecords(outcomes), weights) as KnownPrior;

const outcome = fc.oneof(
  fc.double({ min: -LARGEST_OUTCOME, max: LARGEST_OUTCOME, noNaN: true }),
  fc.double({ min: 0, max: 1, noNaN: true }),
  fc.constantFrom(0, 1, 0.1, 5e-324),
);
const weight = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constantFrom(0, 1, 5e-324, 1e-200, 1e300));
const weighted = fc.array(fc.tuple(outcome, weight), { minLength: 1, maxLength: 23 });

test('of no record every figure is null', () => {
  const unknown = computePriors([]);
  const { count, ...figures } = unknown;
  expect(count).toBe(0);
  expect(Object.keys(unknown).sort()).toEqual(Object.keys(computeKnown([1, 2])).sort());
  expect(new Set(Object.values(figures))).toEqual(new Set([null]));
  expect(computePriors(toRecords([null, null]))).toEqual(unknown);
  expect(computePriors(toRecords([1, 2]), [0, 0])).toEqual(unknown);
});

describe('guarantees', () => {
  test('variance is not negative, and min <= percentiles, mean <= max', () => {
    fc.assert(
      fc.property(weighted, fc.boolean(), (drawn, withWeights) => {
        const outcomes = drawn.map(([value]) => value);
        const prior = computePriors(toRecords(outcomes), withWeights ? drawn.map(([, value]) => value) : null);
        if (prior.mean === null) return;
        const { min, mean, max, variance, percentiles, confidence, effectiveCount, count, histogram, interval } = prior;
        const ordered = [min, ...[5, 25, 50, 75, 95].map((percent) => percentiles[percent] as number), max];
        expect(ordered).toEqual(ordered.toSorted((a, b) => a - b));
        expect(mean).toBeGreaterThanOrEqual(min);
        expect(mean).toBeLessThanOrEqual(max);
        expect(variance).toBeGreaterThanOrEqual(0);
        expect(variance).toBeLessThan(Number.POSITIVE_INFINITY);
        expect(effectiveCount).toBeGreaterThanOrEqual(1);
        expect(effectiveCount).toBeLessThanOrEqual(count);
        expect(confidence).toBeGreaterThan(0);
        expect(confidence).toBeLessThan(1);
        expect(histogram.counts.reduce((sum, part) => sum + part, 0)).toBe(count);
        if (interval !== null) expect(interval[0] <= mean && mean <= interval[1]).toBe(true);
        expect(interval === null).toBe(effectiveCount === 1);
      }),
    );
  });

  test('confidence increases with the count', () => {
    const confidences = Array.from({ length: 300 }, (_, i) => computeKnown(new Array(i + 1).fill(i % 7)).confidence);
    expect(confidences[4]).toBe(0.5);
    for (const [i, confidence] of confidences.entries())
      if (i > 0) expect(confidence).toBeGreaterThan(confidences[i - 1] as number);
  });
});

describe('the weighted form', () => {
  test('does not depend on the scale of the weights, however small', () => {
    const outcomes = [0.3, 0.7, 0.2, 0.9, 0.4];
    const weights = [1, 2, 3, 5, 7];
    const plain = computeKnown(outcomes, weights);
    for (const power of [-1070, -600, 600]) {
      const scaled = computeKnown(
        outcomes,
        weights.map((value) => value * 2 ** power),
      );
      expect(scaled).toEqual(plain);
    }
  });

  test('with equal weights is the plain one', () => {
    const outcomes = [0.3, 0.7, 0.2, 0.9, 0.4];
    expect(computeKnown(outcomes, [0.1, 0.1, 0.1, 0.1, 0.1])).toEqual(computeKnown(outcomes));
  });

  test('with whole weights has the mean and variance of repeated records', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.double({ min: -1e6, max: 1e6, noNaN: true }), fc.integer({ min: 1, max: 5 })), {
          minLength: 1,
          maxLength: 13,
        }),
        (drawn) => {
          const prior = computeKnown(
            drawn.map(([value]) => value),
            drawn.map(([, times]) => times),
          );
          const exact = computeExactMoments(drawn.flatMap(([value, times]) => new Array<number>(times).fill(value)));
          expect(Math.abs(prior.mean - exact.mean)).toBeLessThanOrEqual(1e-14 * 1e6);
          expect(Math.abs(prior.variance - exact.variance)).toBeLessThanOrEqual(1e-13 * (exact.variance + 1));
        },
      ),
    );
  });

  test('leaves out records without an outcome or of weight 0', () => {
    const prior = computePriors(toRecords([0.3, null, 0.7, 100]), [1, 3, 1, 0]);
    expect(prior).toEqual(computeKnown([0.3, 0.7]));
  });
});

test('a spread far from 0 keeps its variance', () => {
  const outcomes = Array.from({ length: 997 }, (_, i) => 1e12 + ((i * 389) % 997) / 100);
  const exact = computeExactMoments(outcomes);
  expect(Math.abs(computeKnown(outcomes).variance / exact.variance - 1)).toBeLessThan(1e-12);
});

test('outcomes that cancel keep their mean', () => {
  expect(computeKnown([1e16, 1, -1e16, 3]).mean).toBe(1);
});

test('what cannot be pooled is refused', () => {
  const records = toRecords([1, 2]);
  expect(() => computePriors(records, [1])).toThrow(DimensionMismatchError);
  expect(() => computePriors(records, [1, Number.NaN])).toThrow(NotFiniteError);
  expect(() => computePriors(records, [1, -0.5])).toThrow(/weight of record 1 is negative: -0.5; pass weights from 0/);
  expect(() => computePriors(toRecords([1, Number.NaN]))).toThrow(NotFiniteError);
  expect(() => computePriors(toRecords([1, 1e200]))).toThrow(ValidationError);
  for (const kappa of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    expect(() => computePriors(records, null, { kappa })).toThrow(/kappa is not a finite number above 0/);
});
