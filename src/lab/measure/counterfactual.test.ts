import { describe, expect, test } from 'vitest';
import { COUNTERFACTUAL_ESTIMATORS, estimateFromLog, type LoggedChoice } from './counterfactual.ts';
import { drawLog, LOGGED_TRUTH, TRUTH } from './logs.fixture.ts';

const options = { samples: 400, seed: 5 };

describe.each(COUNTERFACTUAL_ESTIMATORS)('%s', (estimator) => {
  test('finds what another system would have earned, which the mean of the log is not', () => {
    const { value, meanWeight } = estimateFromLog(drawLog(40_000, 3), estimator, { samples: 20, seed: 1 });
    expect(Math.abs(TRUTH - LOGGED_TRUTH)).toBeGreaterThan(0.2);
    expect(Math.abs(value.mean - TRUTH)).toBeLessThan(0.02);
    expect(Math.abs(meanWeight - 1)).toBeLessThan(0.05);
  });

  test('has an interval that holds the truth in about 95 of 100 logs', () => {
    const covered = Array.from(
      { length: 100 },
      (_, seed) => estimateFromLog(drawLog(400, seed), estimator, options).value,
    );
    const count = covered.filter(({ low, high }) => (low as number) <= TRUTH && TRUTH <= (high as number)).length;
    expect(count).toBeGreaterThanOrEqual(88);
    expect(count).toBeLessThanOrEqual(100);
  });
});

test('a model makes the doubly robust interval shorter, and a wrong one leaves it right', () => {
  const width = (bias: number, estimator: 'dr' | 'ips') => {
    const { low, high } = estimateFromLog(drawLog(2000, 7, bias), estimator, options).value;
    return (high as number) - (low as number);
  };
  expect(width(0, 'dr')).toBeLessThan(0.8 * width(0, 'ips'));
  expect(
    Math.abs(estimateFromLog(drawLog(40_000, 3, 5), 'dr', { samples: 20, seed: 1 }).value.mean - TRUTH),
  ).toBeLessThan(0.1);
});

test('weights by hand', () => {
  const choice = (propensity: number, target: number, reward: number): LoggedChoice => ({
    ...{ cluster: `${propensity} ${target}`, propensity, target, reward },
  });
  const log = [choice(0.5, 1, 1), choice(0.25, 0, 1), choice(0.5, 0.5, 0)];
  expect(estimateFromLog(log, 'ips', options)).toMatchObject({
    ...{ value: { mean: 2 / 3 }, meanWeight: 1, largestWeight: 2, effectiveSize: 9 / 5 },
  });
  expect(estimateFromLog(log, 'snips', options).value.mean).toBeCloseTo(2 / 3, 12);
  const onlyOnce = estimateFromLog([choice(0.5, 0.25, 1)], 'snips', options).value;
  expect(onlyOnce).toEqual({ mean: 1, low: null, high: null });
});

test('the interval of snips has the scale of its ratio, whatever the mean weight is', () => {
  // A ratio of means: its residuals w (r - ratio), divided by the mean weight, which is 1.5.
  const rows = [
    [0.5, 1],
    [1.5, 0],
    [1, 1],
    [3, 0.5],
    [1.5, 0.25],
    [1.5, 1],
  ] as const;
  const log = rows.map(([weight, reward], i) => ({ cluster: `c${i}`, propensity: 0.25, target: weight / 4, reward }));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  const ratio = sum(rows.map(([weight, reward]) => weight * reward)) / 9;
  const influences = rows.map(([weight, reward]) => (weight * (reward - ratio)) / 1.5);
  const error = Math.sqrt(sum(influences.map((u) => u * u)) / 5 / 6);
  const { value, meanWeight } = estimateFromLog(log, 'snips', options);
  expect(meanWeight).toBe(1.5);
  expect(value.mean).toBeCloseTo(ratio, 12);
  // scipy 1.17.1: stats.t.ppf(.975, 5)
  expect((value.high as number) - ratio).toBeCloseTo(2.5705818356363 * error, 9);
  expect(ratio - (value.low as number)).toBeCloseTo(2.5705818356363 * error, 9);
});

test.each([
  [[], 'ips', 'log has no choice; pass at least one'],
  [[{ propensity: 0 }], 'ips', 'propensity of choice 0 is 0; log the probability'],
  [[{ target: 1.2 }], 'ips', 'target of choice 0 is 1.2'],
  [[{ reward: Number.NaN }], 'snips', 'reward of choice 0 is NaN'],
  [[{}], 'dr', 'give what a model expects, or use ips or snips'],
  [[{ target: 0 }], 'snips', 'the other system makes none of the logged choices'],
] as const)('%j is refused', (changes, estimator, message) => {
  const log = changes.map((change) => ({ cluster: 'c', propensity: 0.5, target: 0.5, reward: 1, ...change }));
  expect(() => estimateFromLog(log, estimator, options)).toThrow(message);
});
