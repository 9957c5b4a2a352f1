import { describe, expect, test } from 'vitest';
import { createRandom } from '../../src/core/numbers/random.ts';
import { buildSingletonClusters } from '../../src/eval/intervals/mean-intervals.ts';
import { computePriors } from '../../src/memory/outcomes/prior-bundle.ts';
import { binOutcomes, measureCoverage, resampleCalibrationError } from './calibration.ts';

const options = { bins: 10, samples: 500, level: 0.95, seed: 3 };

test('resamples of a large error surround it, and clusters of equal turns widen the interval', () => {
  const random = createRandom(11, 'calibration');
  const outcomes = Float64Array.from({ length: 600 }, () => Number(random.uniform() < 0.3));
  const probabilities = new Float64Array(600).fill(0.55);
  const { expectedError } = binOutcomes(probabilities, outcomes, 10);
  const { low, high } = resampleCalibrationError(probabilities, outcomes, buildSingletonClusters(600), options);
  expect(low).toBeLessThan(expectedError);
  expect(high).toBeGreaterThan(expectedError);
  expect(high - low).toBeLessThan(0.1);
  const sorted = outcomes.toSorted();
  const of = Int32Array.from(sorted, (_, i) => Math.floor(i / 20));
  const wide = resampleCalibrationError(probabilities, sorted, { of, sizes: new Float64Array(30).fill(20) }, options);
  expect(wide.high - wide.low).toBeGreaterThan(2 * (high - low));
});

describe('coverage', () => {
  const toPrior = (...outcomes: readonly number[]) => computePriors(outcomes.map((outcome) => ({ outcome })));

  test('of the rate of the bin, of the outcome, and of drawn neighbours', () => {
    // Two bins: means of 1 with a rate of 1/2, and means of 1/2 with a rate of 1.
    const priors = [toPrior(1, 1, 1), toPrior(1, 1, 1), toPrior(1, 0, 1, 0), toPrior(0, 1, 0, 1)];
    const rates: number[] = [];
    const drawPrior = (turn: number, rate: number) => {
      rates[turn] = rate;
      return turn === 3 ? toPrior(0, 0, 0, 0) : toPrior(1, 1, 1);
    };
    const { outcome, rate, rateByStudent, drawnRate, intervals, medianWidth } = measureCoverage(
      priors,
      Float64Array.of(1, 0, 1, 1),
      10,
      drawPrior,
    );
    expect(rates).toEqual([0.5, 0.5, 1, 1]);
    expect([...outcome]).toEqual([1, 0, 0, 0]);
    expect([...rate]).toEqual([1, 1, 0, 0]);
    expect([...rateByStudent]).toEqual([0, 0, 1, 1]);
    expect([...drawnRate]).toEqual([1, 1, 1, 0]);
    expect(intervals).toBe(4);
    // Wilson: of 3 of 3 from 1 / (1 + z^2 / 3) to 1; of 2 of 4 the width is z / sqrt(4 + z^2).
    const square = 1.959963984540054 ** 2;
    expect(medianWidth).toBeCloseTo((1 - 1 / (1 + square / 3) + Math.sqrt(square / (4 + square))) / 2, 9);
  });

  test('a turn without neighbours covers nothing', () => {
    const { rate, outcome, intervals, medianWidth } = measureCoverage(
      [toPrior(), toPrior(1)],
      Float64Array.of(1, 1),
      10,
      () => toPrior(1),
    );
    expect([...rate, ...outcome]).toEqual([0, 1, 0, 1]);
    expect(intervals).toBe(1);
    expect(medianWidth).toBeGreaterThan(0.7);
  });
});
