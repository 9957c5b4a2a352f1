import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { BENCHMARK_COORDINATES, drawBenchmarkData } from './benchmark-vectors.ts';

const COUNT = 2003;
const DIMENSION = 7;
const { vectors, coordinates, dimension } = drawBenchmarkData({ count: COUNT, dimension: DIMENSION, seed: 3 });
const listColumn = (values: Float32Array, width: number, column: number) =>
  Array.from({ length: values.length / width }, (_, row) => values[row * width + column] as number);
const computeMean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

test('vectors have length 1 and no direction of their own', () => {
  expect([dimension, vectors.length]).toEqual([DIMENSION, COUNT * DIMENSION]);
  for (let row = 0; row < COUNT; row++)
    expect(Math.hypot(...vectors.subarray(row * DIMENSION, (row + 1) * DIMENSION))).toBeCloseTo(1, 6);
  for (let column = 0; column < DIMENSION; column++) {
    const values = listColumn(vectors, DIMENSION, column);
    expect(Math.abs(computeMean(values))).toBeLessThan(4 / Math.sqrt(DIMENSION * COUNT));
    // A coordinate of a uniform direction has the mean square 1 / D.
    expect(computeMean(values.map((value) => value * value))).toBeCloseTo(1 / DIMENSION, 1.5);
  }
});

test('coordinates are uniform between the ends of appendix B.2', () => {
  expect(coordinates).toHaveLength(5 * COUNT);
  for (const [column, { from, to }] of BENCHMARK_COORDINATES.entries()) {
    const values = listColumn(coordinates, 5, column).map((value) => (value - from) / (to - from));
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...values)).toBeLessThanOrEqual(1);
    for (const quarter of [0.25, 0.5, 0.75])
      expect(Math.abs(values.filter((value) => value < quarter).length / COUNT - quarter)).toBeLessThan(0.05);
  }
});

test('the first rows are the same for every count, and others for another seed', () => {
  const few = drawBenchmarkData({ count: 13, dimension: DIMENSION, seed: 3 });
  expect(vectors.subarray(0, 13 * DIMENSION)).toEqual(few.vectors);
  expect(coordinates.subarray(0, 65)).toEqual(few.coordinates);
  expect(drawBenchmarkData({ count: 13, dimension: DIMENSION, seed: 4 }).vectors).not.toEqual(few.vectors);
  expect(drawBenchmarkData({ count: 2 }).dimension).toBe(768);
});

test.each([
  [{ count: 0 }, 'count is no positive integer: 0'],
  [{ count: 3, dimension: 1.5 }, 'dimension is no positive integer: 1.5'],
])('refuses %j', (size, message) => {
  expect(() => drawBenchmarkData(size)).toThrow(ValidationError);
  expect(() => drawBenchmarkData(size)).toThrow(message);
});
