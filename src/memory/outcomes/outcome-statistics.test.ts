import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { EMPTY_OUTCOME_STATISTICS, LARGEST_OUTCOME, type OutcomeStatistics } from '../../model/turns/turn.ts';
import { computeExactMoments } from './moments.oracle.ts';
import {
  computePopulationVariance,
  computeSampleVariance,
  mergeOutcomeStatistics,
  updateOutcomeStatistics,
} from './outcome-statistics.ts';

const collect = (outcomes: readonly number[]) => outcomes.reduce(updateOutcomeStatistics, EMPTY_OUTCOME_STATISTICS);

/** Statistics of parts of at most `size` outcomes, merged in pairs. */
function collectInTree(outcomes: readonly number[], size: number): OutcomeStatistics {
  if (outcomes.length <= size) return collect(outcomes);
  const half = Math.ceil(outcomes.length / 2);
  const [left, right] = [outcomes.slice(0, half), outcomes.slice(half)];
  return mergeOutcomeStatistics(collectInTree(left, size), collectInTree(right, size));
}

/** The update as published, without a remainder. */
function computeWelfordVariance(outcomes: readonly number[]): number {
  let [mean, m2] = [0, 0];
  for (const [i, outcome] of outcomes.entries()) {
    const delta = outcome - mean;
    mean += delta / (i + 1);
    m2 += delta * (outcome - mean);
  }
  return m2 / outcomes.length;
}

/** Draws around an offset with a spread. */
function drawOutcomes(count: number, offset: number, spread: number): number[] {
  const random = createRandom(17, 'outcomes');
  return Array.from({ length: count }, () => offset + spread * (random.uniform() - 0.5));
}

const relativeError = (value: number, exact: number) => (value === exact ? 0 : Math.abs(value / exact - 1));

test('statistics of no and of one outcome', () => {
  expect(collect([])).toEqual({ count: 0, mean: 0, m2: 0, min: null, max: null });
  expect(collect([0.3])).toEqual({ count: 1, mean: 0.3, m2: 0, min: 0.3, max: 0.3 });
  expect([computePopulationVariance(collect([])), computeSampleVariance(collect([]))]).toEqual([null, null]);
  expect([computePopulationVariance(collect([0.3])), computeSampleVariance(collect([0.3]))]).toEqual([0, null]);
  expect([computePopulationVariance(collect([1, 3])), computeSampleVariance(collect([1, 3]))]).toEqual([1, 2]);
});

describe('INV-002: numbers that break running sums', () => {
  const cases: readonly (readonly [name: string, outcomes: readonly number[]])[] = [
    ['a small spread far from 0', drawOutcomes(1009, 1e9, 4)],
    ['a spread of a few float64 steps', drawOutcomes(1009, 1e15, 4)],
    ['a spread far below 0', drawOutcomes(1009, -1e12, 1e-2)],
    ['one huge outcome before tiny ones', [1e16, ...drawOutcomes(503, 0, 1e-3)]],
    ['one huge outcome after tiny ones', [...drawOutcomes(503, 0, 1e-3), 1e16]],
    ['huge ones of both signs', Array.from({ length: 503 }, (_, i) => (i % 2 === 0 ? 1 : -1) * (LARGEST_OUTCOME - i))],
    ['a long rise', Array.from({ length: 2003 }, (_, i) => 1e8 + i / 7)],
    ['tiny outcomes', drawOutcomes(503, 0, 1e-100)],
  ];

  test.each(cases)('%s', (_, outcomes) => {
    const exact = computeExactMoments(outcomes);
    const reach = outcomes.reduce((most, outcome) => Math.max(most, Math.abs(outcome)), 0);
    for (const statistics of [collect(outcomes), collectInTree(outcomes, 7), collectInTree(outcomes, 1)]) {
      expect(relativeError(computePopulationVariance(statistics) as number, exact.variance)).toBeLessThan(1e-12);
      expect(Math.abs(statistics.mean - exact.mean)).toBeLessThanOrEqual(2 ** -51 * reach);
    }
  });

  test('the update without a remainder loses the variance of some', () => {
    const [far, steps] = [cases[0]?.[1] ?? [], cases[1]?.[1] ?? []];
    expect(relativeError(computeWelfordVariance(far), computeExactMoments(far).variance)).toBeGreaterThan(1e-9);
    expect(relativeError(computeWelfordVariance(steps), computeExactMoments(steps).variance)).toBeGreaterThan(1e-3);
  });

  test('equal outcomes have variance 0, however many', () => {
    const statistics = collect(new Array<number>(10_007).fill(0.1));
    expect(statistics).toEqual({ count: 10_007, mean: 0.1, m2: 0, min: 0.1, max: 0.1 });
    expect(mergeOutcomeStatistics(statistics, statistics)).toMatchObject({ mean: 0.1, m2: 0 });
  });
});

const outcome = fc.double({ min: -LARGEST_OUTCOME, max: LARGEST_OUTCOME, noNaN: true });
const near = fc.tuple(outcome, fc.integer({ min: -3, max: 3 })).map(([x, steps]) => x * (1 + steps * 2 ** -52));

test('variance is not negative and the mean is within the bounds, updated or merged', () => {
  const outcomes = fc.array(fc.oneof(outcome, near, fc.constantFrom(0, 1, -1, 5e-324)), {
    minLength: 1,
    maxLength: 29,
  });
  fc.assert(
    fc.property(outcomes, fc.integer({ min: 1, max: 5 }), (values, size) => {
      const drawn = values.filter((value) => Math.abs(value) <= LARGEST_OUTCOME);
      for (const { count, mean, m2, min, max } of [collect(drawn), collectInTree(drawn, size)]) {
        expect(count).toBe(drawn.length);
        if (count === 0) continue;
        expect([min, max]).toEqual([Math.min(...drawn), Math.max(...drawn)]);
        expect(mean).toBeGreaterThanOrEqual(min as number);
        expect(mean).toBeLessThanOrEqual(max as number);
        expect(m2).toBeGreaterThanOrEqual(0);
        expect(m2).toBeLessThan(Number.POSITIVE_INFINITY);
      }
    }),
  );
});

test('stored and continued, the statistics are those of one pass', () => {
  const outcomes = drawOutcomes(211, 1e9, 1);
  const stored = JSON.parse(JSON.stringify(collect(outcomes.slice(0, 101)))) as OutcomeStatistics;
  expect(outcomes.slice(101).reduce(updateOutcomeStatistics, stored)).toEqual(collect(outcomes));
});

test('merging with nothing changes nothing', () => {
  const some = collect([3, 5, 11]);
  expect(mergeOutcomeStatistics(some, EMPTY_OUTCOME_STATISTICS)).toEqual(some);
  expect(mergeOutcomeStatistics(EMPTY_OUTCOME_STATISTICS, some)).toEqual(some);
});

test('outcomes and statistics that cannot be are refused', () => {
  expect(() => collect([Number.NaN])).toThrow(NotFiniteError);
  expect(() => collect([Number.POSITIVE_INFINITY])).toThrow(NotFiniteError);
  expect(() => collect([-2 * LARGEST_OUTCOME])).toThrow(/beyond 1e\+140 in magnitude: -2e\+140; scale/);
  const some = collect([3, 5]);
  for (const wrong of [
    { count: 1.5 },
    { count: -1 },
    { m2: -1 },
    { m2: Number.NaN },
    { m2: 9 }, // the squares of two distances of at most 2
    { mean: 7 },
    { mean: Number.NaN },
    { meanRemainder: 0.5 },
    { meanRemainder: Number.NaN },
    { min: null },
    { max: 1e300 },
  ])
    expect(() => mergeOutcomeStatistics(some, { ...some, ...wrong })).toThrow(ValidationError);
  for (const wrong of [{ min: 1 }, { mean: 5 }, { m2: 3 }])
    expect(() => updateOutcomeStatistics({ ...EMPTY_OUTCOME_STATISTICS, ...wrong }, 3)).toThrow(ValidationError);
});
