import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { computeRowProbabilities, measureCalibration } from './calibration.ts';
import { drawHandmadeTable } from './feature-table.fixture.ts';

const [Q, C] = [5, 7];
const drawn = drawHandmadeTable({ queries: Q, candidates: C, clusters: 2, signals: [], seed: 3 });
const table = { ...drawn, mask: drawn.mask.map((_, pair) => Number(pair % C < 5 && pair >= C)) };
const stream = createRandom(5, 'calibration.test');
const scores = Float32Array.from({ length: Q * C }, () => 5 * stream.drawNormal());

test('probabilities are the softmax of a row, padding aside', () => {
  const probabilities = computeRowProbabilities(table, scores, 2);
  for (let q = 0; q < Q; q++) {
    const row = Array.from({ length: 5 }, (_, c) => Math.exp(scores[q * C + c]! / 2));
    const sum = row.reduce((total, power) => total + power, 0);
    const expected = q === 0 ? new Array(7).fill(0) : [...row.map((power) => power / sum), 0, 0];
    for (const [c, value] of expected.entries()) expect(probabilities[q * C + c]).toBeCloseTo(value, 12);
  }
});

test('bins tell what was predicted from what was found', () => {
  const one = {
    ...table,
    queryIds: ['q'],
    mask: new Uint8Array(C).fill(1),
    grades: Float32Array.of(1, 0, 0, 1, 1, 0, 0),
  };
  const { bins, expectedError } = measureCalibration(one, Float64Array.of(0.1, 0.2, 0.24, 0.25, 0.6, 0.74, 1), 4);
  expect(bins).toEqual([
    { low: 0, high: 0.25, count: 3, predicted: expect.closeTo(0.18, 12), observed: 1 / 3 },
    { low: 0.25, high: 0.5, count: 1, predicted: 0.25, observed: 1 },
    { low: 0.5, high: 0.75, count: 2, predicted: expect.closeTo(0.67, 12), observed: 0.5 },
    { low: 0.75, high: 1, count: 1, predicted: 1, observed: 0 },
  ]);
  const error = (3 * (1 / 3 - 0.18) + 0.75 + 2 * 0.17 + 1) / 7;
  expect(expectedError).toBeCloseTo(error, 12);
  expect(measureCalibration(one, new Float64Array(C), 2).bins[1]).toEqual({
    low: 0.5,
    high: 1,
    count: 0,
    predicted: null,
    observed: null,
  });
});

test('probabilities that are met have a small error', () => {
  const width = 997;
  const probabilities = Float64Array.from({ length: width }, () => stream.uniform());
  const grades = Float32Array.from(probabilities, (probability) => Number(stream.uniform() < probability));
  const honest = { ...table, queryIds: ['q'], width, mask: new Uint8Array(width).fill(1), grades };
  expect(measureCalibration(honest, probabilities).expectedError).toBeLessThan(0.06);
  expect(
    measureCalibration(
      honest,
      probabilities.map((p) => p ** 4),
    ).expectedError,
  ).toBeGreaterThan(0.2);
});

test('what cannot be calibrated is refused', () => {
  expect(() => computeRowProbabilities(table, [1], 1)).toThrow('scores of the feature table: expected 35, got 1');
  expect(() => computeRowProbabilities(table, scores, 0)).toThrow(
    'temperature of probabilities is not positive: 0; pass a number above 0',
  );
  expect(() => measureCalibration(table, new Float64Array(Q * C), 0)).toThrow(
    'bins is not an integer from 1: 0; pass a number such as 15',
  );
  const none = { ...table, mask: new Uint8Array(Q * C) };
  expect(() => measureCalibration(none, new Float64Array(Q * C))).toThrow(
    'calibration of 0 candidates; pass a table with candidates',
  );
});
