import { expect, test } from 'vitest';
import { joinCandidates } from './stage.ts';

/** Of turns b, é, a, z, c: é (0xc3) z c b a. */
const ranks = Int32Array.of(3, 0, 4, 1, 2);
const buildFound = (width: number, ...positions: number[]) => ({
  width,
  positions: Int32Array.from(positions),
  scores: new Float32Array(positions.length),
});
const admitAll = () => true;

test('a pool is the union of its sources in tie order, padded to the widest row', () => {
  const pool = joinCandidates([buildFound(2, 0, 2, 4, -1), buildFound(3, 1, 0, -1, -1, -1, -1)], 2, ranks, admitAll);
  expect(pool).toEqual({
    queryCount: 2,
    width: 3,
    positions: Int32Array.of(1, 0, 2, 4, -1, -1),
  });
});

test('turns that are not admitted stay out', () => {
  const pool = joinCandidates([buildFound(3, 0, 1, 2)], 1, ranks, (_, position) => position !== 1);
  expect([...pool.positions]).toEqual([0, 2]);
});

test('a query without any candidate is a row of padding', () => {
  expect([...joinCandidates([buildFound(1, -1, -1)], 2, ranks, admitAll).positions]).toEqual([-1, -1]);
});
