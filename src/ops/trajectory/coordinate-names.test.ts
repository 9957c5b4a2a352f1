import { expect, test } from 'vitest';
import { COORDINATES, DEFAULT_WEIGHTS, listCoordinateWeights } from './coordinate-names.ts';

test('each system has its number of coordinates, and all that a smaller one has', () => {
  for (const [dimensions, names] of Object.entries(COORDINATES)) expect(new Set(names).size).toBe(Number(dimensions));
  expect(COORDINATES[7].slice(0, 5)).toEqual(COORDINATES[5]);
  expect(COORDINATES[5]).toEqual(expect.arrayContaining([...COORDINATES[3]]));
  expect([...COORDINATES[7]].sort()).toEqual(Object.keys(DEFAULT_WEIGHTS).sort());
});

test('weights come in the order of the coordinates, defaults where none is given', () => {
  expect([...listCoordinateWeights(3, { temporal: 2 })]).toEqual([1, 2, Math.fround(1.2)]);
  expect([...listCoordinateWeights(7)]).toEqual([1, 0.5, 1.2, 0.8, 0.3, 0.4, 0.4].map(Math.fround));
  expect([...listCoordinateWeights(5, { depth: 0, branchFactor: 3 })]).toEqual(
    [0, 0.5, 1.2, 0.8, 0.3].map(Math.fround),
  );
});

test.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('a weight of %d is refused', (weight) => {
  expect(() => listCoordinateWeights(5, { homogeneity: weight })).toThrow(
    `coordinate weight homogeneity is negative or not finite: ${weight}`,
  );
});
