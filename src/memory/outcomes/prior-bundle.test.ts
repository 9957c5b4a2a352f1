import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { EMPTY_OUTCOME_STATISTICS, LARGEST_OUTCOME } from '../../model/turns/turn.ts';
import { computeExactMoments } from './moments.oracle.ts';
import { computeMeanInterval, updateOutcomeStatistics } from './outcome-statistics.ts';
import {
  computeBoundedInterval,
  computeHistogram,
  computePriors,
  type KnownPrior,
  type PriorOptions,
} from './prior-bundle.ts';

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
        const ordered = [min, ...[5, 25, 50, 75, 95].map((percent) => percentiles?.[percent] as number), max];
        expect(ordered).toEqual(ordered.toSorted((a, b) => a - b));
        expect(mean).toBeGreaterThanOrEqual(min);
        expect(mean).toBeLessThanOrEqual(max);
        expect(variance).toBeGreaterThanOrEqual(0);
        expect(variance).toBeLessThan(Number.POSITIVE_INFINITY);
        expect(effectiveCount).toBeGreaterThanOrEqual(1);
        expect(effectiveCount).toBeLessThanOrEqual(count);
        expect(confidence).toBeGreaterThan(0);
        expect(confidence).toBeLessThan(1);
        expect(histogram?.counts.reduce((sum, part) => sum + part, 0)).toBe(count);
        if (interval !== null) expect(interval[0] <= mean && mean <= interval[1]).toBe(true);
        const isUnit = min >= 0 && max <= 1;
        expect(interval === null).toBe(!isUnit && (effectiveCount === 1 || min === max));
        if (isUnit) expect((interval?.[0] as number) >= 0 && (interval?.[1] as number) <= 1).toBe(true);
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

describe('the interval', () => {
  test('of outcomes of 0 and 1 stays within 0 and 1, and is no point', () => {
    // The roots of (2/3 - q)^2 = z^2 q (1 - q) / 3, and of (1 - q)^2 = z^2 q (1 - q) / 3.
    const square = 1.959963984540054 ** 2 / 3;
    const reach = Math.sqrt(square * (2 / 9 + square / 4));
    const [low, high] = computeKnown([1, 1, 0]).interval as readonly [number, number];
    expect(low).toBeCloseTo((2 / 3 + square / 2 - reach) / (1 + square), 12);
    expect(high).toBeCloseTo((2 / 3 + square / 2 + reach) / (1 + square), 12);
    const all = computeKnown([1, 1, 1]).interval;
    expect(all?.[0]).toBeCloseTo(1 / (1 + square), 12);
    expect(all?.[1]).toBe(1);
  });

  test('of outcomes beyond 0 and 1 is that of Student without a range, and bounded with one', () => {
    const outcomes = [-1, -0.9, 0.8, -1];
    const compute = (options: PriorOptions) => computePriors(toRecords(outcomes), null, options).interval;
    const [low, high] = compute({}) as readonly [number, number];
    // scipy.stats.t.ppf(0.975, 3) = 3.1824463052842624
    expect(high - low).toBeCloseTo(2 * 3.1824463052842624 * Math.sqrt(0.586875 / 3), 9);
    expect([low < -1, high < 1]).toEqual([true, true]);
    const bounded = compute({ range: [-1, 1] }) as readonly [number, number];
    expect(bounded[0]).toBeGreaterThanOrEqual(-1);
    expect(bounded[1]).toBeLessThan(1);
    expect(() => compute({ range: [0, 1] })).toThrow(
      /^outcome of a prior is beyond the range from 0 to 1: -1; correct/,
    );
  });

  test('is unknown where outcomes without a range do not differ', () => {
    expect(computeKnown([7, 7, 7]).interval).toBeNull();
    expect(computePriors(toRecords([1, 1, 1]), null, { range: 'none' }).interval).toBeNull();
    expect(computePriors(toRecords([7, 7, 7]), null, { range: [0, 10] }).interval).not.toBeNull();
  });

  test('grows with unequal weights, whose effective count is less', () => {
    const measure = (weights: number[] | null) => {
      const [low, high] = computeKnown([1, 0, 1, 0], weights).interval as readonly [number, number];
      return high - low;
    };
    expect(measure([1, 1, 0.01, 0.01])).toBeGreaterThan(1.1 * measure(null));
  });
});

describe('a record with several observations', () => {
  const value = fc.oneof(
    fc.integer({ min: -1e6, max: 1e6 }).map((thousandths) => thousandths / 1000),
    fc.constantFrom(0, 1),
  );
  const drawn = fc.array(
    fc.record({
      outcome: fc.option(value),
      later: fc.array(value, { maxLength: 7 }),
      weight: fc.constantFrom(0, 0.1, 0.5, 2),
    }),
    { minLength: 1, maxLength: 7 },
  );
  const toObserved = ({ outcome, later }: { outcome: number | null; later: readonly number[] }) => ({
    outcome,
    stats: later.reduce(updateOutcomeStatistics, EMPTY_OUTCOME_STATISTICS),
  });
  const POOLS = ['outcome', 'stats', 'both'] as const;

  test('counts as one record of its weight for each, by what is pooled', () => {
    fc.assert(
      fc.property(drawn, fc.constantFrom(...POOLS), fc.boolean(), (records, pool, isWeighted) => {
        const single = records.flatMap(({ outcome, later, weight }) => {
          const first = outcome === null || pool === 'stats' ? [] : [outcome];
          return [...first, ...(pool === 'outcome' ? [] : later)].map((one) => ({ outcome: one, weight }));
        });
        const found = computePriors(records.map(toObserved), isWeighted ? records.map(({ weight }) => weight) : null, {
          pool,
        });
        const expected = computePriors(single, isWeighted ? single.map(({ weight }) => weight) : null);
        if (found.mean === null || expected.mean === null) {
          expect(found).toEqual(expected);
          return;
        }
        expect([found.count, found.min, found.max]).toEqual([expected.count, expected.min, expected.max]);
        expect(found.effectiveCount).toBeCloseTo(expected.effectiveCount, 9);
        expect(found.mean).toBeCloseTo(expected.mean, 8);
        expect(found.variance / 1e6).toBeCloseTo(expected.variance / 1e6, 11);
        if (found.percentiles === null) return;
        expect(found.histogram).toEqual(expected.histogram);
        expect(found.percentiles).toEqual(expected.percentiles);
      }),
    );
  });

  test('keeps its percentiles if what came later was of two values, and of more than two they are unknown', () => {
    const later = Array.from({ length: 2003 }, (_, i) => Number(i % 7 < 2));
    const prior = computePriors([toObserved({ outcome: 0.5, later })]) as KnownPrior;
    expect([prior.count, prior.records]).toEqual([2004, 1]);
    expect(prior.percentiles).toEqual({ 5: 0, 25: 0, 50: 0, 75: 1, 95: 1 });
    expect(prior.histogram?.counts).toEqual([1430, 0, 0, 0, 0, 1, 0, 0, 0, 573]);
    const graded = computePriors([toObserved({ outcome: 0.5, later: [...later, 0.5] })]);
    expect([graded.count, graded.percentiles, graded.histogram]).toEqual([2005, null, null]);
  });

  test('with `outcome` is as if nothing came later', () => {
    const bare = [{ outcome: 0.3 }, { outcome: 0.9 }];
    const observed = bare.map(({ outcome }) => toObserved({ outcome, later: [0, 1, 1] }));
    expect(computePriors(observed, [0.2, 0.7], { pool: 'outcome' })).toEqual(computePriors(bare, [0.2, 0.7]));
  });

  test('is named in errors', () => {
    const contradictory = { count: 3, mean: 5, m2: 0, min: 0, max: 1 };
    expect(() => computePriors([{ id: 'r7', outcome: null, stats: contradictory }])).toThrow(/contradict themselves/);
    expect(() => computePriors([{ id: 'r7', outcome: 1e141 }])).toThrow(/outcome of record r7 is beyond 1e\+140/);
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
  for (const range of [[1, 0], [0, 0], [0, Number.NaN], [0, 1e141], 'unity'] as PriorOptions['range'][])
    expect(() => computePriors(records, null, { range } as PriorOptions)).toThrow(/in the range of outcomes/);
});

/** Mean and population variance. */
function summarise(outcomes: readonly number[]): readonly [mean: number, variance: number] {
  const mean = outcomes.reduce((sum, outcome) => sum + outcome, 0) / outcomes.length;
  return [mean, outcomes.reduce((sum, outcome) => sum + (outcome - mean) ** 2, 0) / outcomes.length];
}
const compute = (outcomes: readonly number[], range: readonly [number, number] = [0, 1]) =>
  computeBoundedInterval(...summarise(outcomes), outcomes.length, range);

test('of outcomes at the ends of the range is that of Wilson: its ends are z standard errors from the share', () => {
  const z = 1.959963984540054;
  for (const [hits, n] of [
    [2, 3],
    [3, 3],
    [0, 5],
    [1, 1],
    [7, 11],
    [1999, 2003],
  ] as const) {
    const outcomes = Array.from({ length: n }, (_, i) => Number(i < hits));
    const [low, high] = compute(outcomes);
    const share = hits / n;
    for (const end of [low, high]) {
      const isCut = (end === 0 && hits === 0) || (end === 1 && hits === n);
      if (!isCut) expect(Math.abs(share - end)).toBeCloseTo(z * Math.sqrt((end * (1 - end)) / n), 10);
    }
    const scaled = outcomes.map((outcome) => -3 + 5 * outcome);
    const [from, to] = compute(scaled, [-3, 2]);
    expect(from).toBeCloseTo(-3 + 5 * low, 10);
    expect(to).toBeCloseTo(-3 + 5 * high, 10);
  }
});

test('of many outcomes that vary little is nearly that of Student, of few it is no point', () => {
  const random = createRandom(7, 'outcomes');
  const outcomes = Array.from({ length: 2003 }, () => 0.4 + 0.2 * random.uniform());
  const [mean, variance] = summarise(outcomes);
  const [low, high] = computeMeanInterval(mean, variance, 2003) as readonly [number, number];
  const found = compute(outcomes);
  expect((found[1] - found[0]) / (high - low)).toBeGreaterThan(1);
  expect((found[1] - found[0]) / (high - low)).toBeLessThan(1.02);
  for (const equal of [[0.5, 0.5, 0.5], [0.9, 0.9], [0.3]]) {
    const [from, to] = compute(equal);
    expect(to - from).toBeGreaterThan(0.3);
  }
});

test('holds the mean, stays in the range and is not wider than that of Wilson', () => {
  const end = fc.double({ min: -1e140, max: 1e140, noNaN: true });
  const part = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(
      fc.tuple(end, end).filter(([a, b]) => a < b),
      part,
      part,
      fc.oneof(fc.double({ min: 1, max: 100, noNaN: true }), fc.constantFrom(1, 1 + 2 ** -52, 1e15)),
      (range, where, share, count) => {
        const [low, high] = range;
        const mean = Math.min(high, Math.max(low, low + where * (high - low)));
        const largest = Math.max(0, (mean - low) * (high - mean));
        const found = computeBoundedInterval(mean, share * largest, count, range);
        expect(low <= found[0] && found[0] <= mean && mean <= found[1] && found[1] <= high).toBe(true);
        const widest = computeBoundedInterval(mean, largest, count, range);
        expect(found[1] - found[0]).toBeLessThanOrEqual((widest[1] - widest[0]) * (1 + 1e-9));
      },
    ),
  );
});

describe('covers the mean of what was drawn', () => {
  type Draw = (uniform: () => number) => number;
  const cases: readonly (readonly [name: string, mean: number, draw: Draw])[] = [
    ['0 and 1, evenly', 0.5, (uniform) => Number(uniform() < 0.5)],
    ['0 and 1, mostly 1', 0.8, (uniform) => Number(uniform() < 0.8)],
    ['uniform', 0.5, (uniform) => uniform()],
    ['near both ends', 0.5, (uniform) => Math.sin((Math.PI * uniform()) / 2) ** 2],
    ['near 1', 6 / 7, (uniform) => uniform() ** (1 / 6)],
    ['in the middle', 0.5, (uniform) => 0.45 + 0.1 * uniform()],
    ['0, half and 1', 0.5, (uniform) => Math.floor(3 * uniform()) / 2],
    ['mostly 1, else uniform', 0.9, (uniform) => (uniform() < 0.8 ? 1 : uniform())],
  ];
  test.each(cases)('%s', (name, truth, draw) => {
    const random = createRandom(20260101, name);
    const shares: number[] = [];
    for (const n of [3, 5, 10, 30, 100]) {
      let covered = 0;
      for (let sample = 0; sample < 2000; sample++) {
        const [low, high] = compute(Array.from({ length: n }, () => draw(() => random.uniform())));
        covered += Number(low <= truth && truth <= high);
      }
      shares.push(covered / 2000);
    }
    // Wilson's own coverage of 3 draws of .8 is .896: the shares of few draws are coarse.
    expect(Math.min(...shares)).toBeGreaterThan(0.88);
    expect(shares.reduce((sum, share) => sum + share, 0) / shares.length).toBeGreaterThan(0.935);
  });
});

test('counts what numpy counts, on edges too', () => {
  // numpy 2.4.6: numpy.histogram(values, 10)
  const expected: readonly (readonly [values: readonly number[], counts: readonly number[]])[] = [
    [
      [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1],
      [1, 1, 2, 0, 1, 2, 1, 0, 1, 2],
    ],
    [
      [-3, -1, 0, 0.5, 7, 7, 2, 6.9999999],
      [1, 0, 1, 2, 0, 1, 0, 0, 0, 3],
    ],
    [
      [1e9, 1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.3, 1e9 + 0.4, 1e9 + 0.5, 1e9 + 0.6],
      [1, 1, 0, 1, 0, 1, 1, 0, 1, 1],
    ],
  ];
  for (const [values, counts] of expected) expect(computeHistogram(values).counts).toEqual(counts);
});

test('equal values are in the middle of a range of 1', () => {
  // numpy 2.4.6: numpy.histogram([0.7, 0.7], 10)
  expect(computeHistogram([0.7, 0.7])).toEqual({
    counts: [0, 0, 0, 0, 0, 2, 0, 0, 0, 0],
    edges: [0.19999999999999996, 0.29999999999999993, 0.39999999999999997, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2],
  });
});

test('every value is in one bin, between its edges', () => {
  const value = fc.oneof(fc.double({ min: -1e140, max: 1e140, noNaN: true }), fc.constantFrom(0, 5e-324, 1e-323, 1e20));
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 31 }), fc.integer({ min: 1, max: 11 }), (values, bins) => {
      const { counts, edges } = computeHistogram(values, bins);
      expect([counts.length, edges.length]).toEqual([bins, bins + 1]);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(values.length);
      expect(edges).toEqual(edges.toSorted((a, b) => a - b));
      expect(edges[0]).toBeLessThanOrEqual(Math.min(...values));
      expect(edges[bins]).toBeGreaterThanOrEqual(Math.max(...values));
      for (const [bin, count] of counts.entries()) {
        const [low, high] = [edges[bin] as number, edges[bin + 1] as number];
        const inside = values.filter((x) => x >= low && (x < high || (bin === bins - 1 && x <= high)));
        expect(count).toBe(inside.length);
      }
    }),
  );
});
