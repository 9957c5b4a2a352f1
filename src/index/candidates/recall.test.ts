import { expect, test } from 'vitest';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { recallAt } from './recall.ts';

const buildRecallRows = (width: number, ...positions: number[]) => ({
  positions: Int32Array.from(positions),
  scores: new Float32Array(positions.length),
  width,
});

test('is the mean share of the first k that was found, whatever its order', () => {
  const oracle = buildRecallRows(3, 1, 2, 3, 4, 5, -1, -1, -1, -1);
  const found = buildRecallRows(4, 3, 1, 9, 2, 5, 6, 7, 4, 8, -1, -1, -1);
  expect(recallAt(3, found, oracle)).toBeCloseTo((2 / 3 + 1 / 2) / 2, 12); // the third query has nothing to find
  expect(recallAt(1, found, oracle)).toBe(0);
  expect(recallAt(3, oracle, oracle)).toBe(1);
});

test('refuses an oracle that is empty for every query', () => {
  expect(() => recallAt(1, buildRecallRows(1, 3, 4), buildRecallRows(1, -1, -1))).toThrow(
    'exact index finds nothing for any of 2 queries',
  );
});

test('refuses other queries and too few places', () => {
  expect(() => recallAt(1, buildRecallRows(2, 1, 2), buildRecallRows(1, 1, 2))).toThrow(DimensionMismatchError);
  expect(() => recallAt(3, buildRecallRows(2, 1, 2), buildRecallRows(3, 1, 2, 3))).toThrow(ValidationError);
});
