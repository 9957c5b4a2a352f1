import { expect, test } from 'vitest';
import { poolOf } from './candidate-pool.ts';

/** Of turns b, é, a, z, c: é (0xc3) z c b a. */
const places = Int32Array.of(3, 0, 4, 1, 2);
const candidates = (width: number, ...positions: number[]) => ({
  width,
  positions: Int32Array.from(positions),
  scores: new Float32Array(positions.length),
});
const everything = () => true;

test('a pool is the union of its sources in tie order, padded to the widest row', () => {
  const pool = poolOf([candidates(2, 0, 2, 4, -1), candidates(3, 1, 0, -1, -1, -1, -1)], 2, places, everything);
  expect(pool).toEqual({
    queryCount: 2,
    width: 3,
    positions: Int32Array.of(1, 0, 2, 4, -1, -1),
  });
});

test('turns that are not admitted stay out', () => {
  const pool = poolOf([candidates(3, 0, 1, 2)], 1, places, (_, position) => position !== 1);
  expect([...pool.positions]).toEqual([0, 2]);
});

test('a query without any candidate is a row of padding', () => {
  expect([...poolOf([candidates(1, -1, -1)], 2, places, everything).positions]).toEqual([-1, -1]);
});
