import { describe, expect, test } from 'vitest';
import { createRandom } from '../../src/core/random.ts';
import { buildSingletonClusters } from '../../src/evaluation/clusters.ts';
import { computePriors } from '../../src/memory/prior-bundle.ts';
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

  test('of the rate of the bin, of the outcome, and of points', () => {
    // Two bins: means of 1 with a rate of 1/2, and means of 1/2 with a rate of 1.
    const priors = [toPrior(1, 1, 1), toPrior(1, 1, 1), toPrior(1, 0, 1, 0), toPrior(0, 1, 0, 1)];
    const { outcome, rate, rateByWilson, isPoint, intervals, medianWidth } = measureCoverage(
      priors,
      Float64Array.of(1, 0, 1, 1),
      10,
    );
    expect([...outcome]).toEqual([1, 0, 1, 1]);
    expect([...rate]).toEqual([0, 0, 1, 1]);
    expect([...rateByWilson]).toEqual([1, 1, 0, 0]);
    expect([...isPoint]).toEqual([1, 1, 0, 0]);
    expect(intervals).toBe(4);
    // t(.975, 3) = 3.1824463052842624
    expect(medianWidth).toBeCloseTo(3.1824463052842624 * Math.sqrt(0.25 / 3), 9);
  });

  test('a turn without neighbours, or with one, covers nothing', () => {
    const { rate, outcome, intervals, medianWidth } = measureCoverage(
      [toPrior(), toPrior(1)],
      Float64Array.of(1, 1),
      10,
    );
    expect([...rate, ...outcome]).toEqual([0, 0, 0, 0]);
    expect([intervals, medianWidth]).toEqual([0, null]);
  });
});
