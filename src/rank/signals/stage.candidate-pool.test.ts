import { expect, test } from 'vitest';
import { createTieOrder } from '../../model/turns/tie-rule.ts';
import { joinCandidates } from './stage.ts';

/** é (0xc3) z c b a. */
const compareTies = createTieOrder(['b', 'é', 'a', 'z', 'c']);
const buildFound = (width: number, ...positions: number[]) => ({
  width,
  positions: Int32Array.from(positions),
  scores: new Float32Array(positions.length),
});
const admitAll = () => true;

test('a pool is the union of its sources in tie order, padded to the widest row', () => {
  const pool = joinCandidates(
    [buildFound(2, 0, 2, 4, -1), buildFound(3, 1, 0, -1, -1, -1, -1)],
    2,
    compareTies,
    admitAll,
  );
  expect(pool).toEqual({
    queryCount: 2,
    width: 3,
    positions: Int32Array.of(1, 0, 2, 4, -1, -1),
  });
});

test('turns that are not admitted stay out', () => {
  const pool = joinCandidates([buildFound(3, 0, 1, 2)], 1, compareTies, (_, position) => position !== 1);
  expect([...pool.positions]).toEqual([0, 2]);
});

test('a query without any candidate is a row of padding', () => {
  expect([...joinCandidates([buildFound(1, -1, -1)], 2, compareTies, admitAll).positions]).toEqual([-1, -1]);
});
