import { describe, expect, test } from 'vitest';
import type { Candidates } from '../../model/candidates.ts';
import { buildTurnsWith } from '../../model/turns/conversations.fixture.ts';

import { fuseSeedTurns } from './turn-concepts.ts';

const listTurns = (importances: readonly (number | null)[]) =>
  buildTurnsWith(importances.map((importance) => (importance === null ? null : { importance })));
const listRows = (...rows: readonly number[][]): Candidates => ({
  positions: Int32Array.from(rows.flat()),
  scores: Float32Array.from(rows.flat(), (position, i) => (position < 0 ? 0 : 100 - i)),
  width: rows[0]?.length as number,
});
const compareTies = (a: number, b: number) => b - a;
const plain = { turns: listTurns([null, null, null, null, null]), compareTies };
const fuse = (lists: readonly Candidates[], turns: number, corpus = plain, weights: 'ranks' | 'scores' = 'ranks') =>
  fuseSeedTurns(lists, 2, { turns, weights }, corpus).map(
    (seeds) => seeds && [[...seeds.positions], [...seeds.weights]],
  );

describe('seed turns', () => {
  test('are the best turns of the lists by reciprocal rank', () => {
    const [first, second] = fuse([listRows([3, 1, -1], [0, -1, -1]), listRows([1, 2], [-1, -1])], 2);
    expect(first).toEqual([
      [1, 3],
      [Math.fround(1 / 62 + 1 / 61), Math.fround(1 / 61)],
    ]);
    expect(second).toEqual([[0], [Math.fround(1 / 61)]]);
  });

  test('of equal weight stand by the tie rule', () => {
    expect(fuse([listRows([2], [1]), listRows([4], [3])], 5).map((seeds) => seeds?.[0])).toEqual([
      [4, 2],
      [3, 1],
    ]);
  });

  test('weigh by their importance, and those of no importance are none', () => {
    const corpus = { turns: listTurns([1, 0, 0.25, null, 0.5]), compareTies };
    expect(fuse([listRows([1, 2, 3, 4], [0, 1, 2, 4])], 3, corpus)).toEqual([
      [[3, 4, 2], [1 / 63, 0.5 / 64, 0.25 / 62].map(Math.fround)],
      [[0, 4, 2], [1 / 61, 0.5 / 64, 0.25 / 63].map(Math.fround)],
    ]);
  });

  test('by their scores, have the sum of their shares of the largest score of each list', () => {
    const bm25: Candidates = {
      positions: Int32Array.of(3, 1, 0, 2),
      scores: Float32Array.of(8, 2, 5, 5),
      width: 2,
    };
    const cosine: Candidates = {
      positions: Int32Array.of(1, 4, 0, 3),
      scores: Float32Array.of(0.5, -0.25, -0.5, -0.75),
      width: 2,
    };
    expect(fuse([bm25, cosine], 5, plain, 'scores')).toEqual([
      [
        [1, 3],
        [1.25, 1],
      ],
      [
        [2, 0],
        [1, 1],
      ],
    ]);
  });

  test('are none without lists, and where none are asked for', () => {
    expect(fuse([], 3)).toEqual([null, null]);
    expect(fuse([listRows([1], [2])], 0)).toEqual([null, null]);
  });
});
