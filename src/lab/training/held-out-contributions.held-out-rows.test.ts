import { expect, test } from 'vitest';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { FeatureTable } from '../../rank/learning/feature-table.ts';
import { runOfScores } from './held-out-contributions.ts';

const corpus = { turns: ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id })) } as unknown as Corpus;
const table = {
  queryIds: ['q1', 'q2', 'q3'],
  width: 3,
  mask: Uint8Array.of(1, 1, 1, 1, 1, 0, 0, 0, 0),
} as unknown as FeatureTable;
const pool = { queryCount: 3, width: 3, positions: Int32Array.of(4, 2, 0, 3, 1, -1, -1, -1, -1) };
const scores = Float32Array.of(0.5, 2, 0.5, -3, -2, 9, 9, 9, 9);

test('the best stand first, equal ones in the order of the pool, padding nowhere', () => {
  expect([...runOfScores(corpus, table, pool, scores, 7)]).toEqual([
    [
      'q1',
      [
        { id: 'c', score: 2 },
        { id: 'e', score: 0.5 },
        { id: 'a', score: 0.5 },
      ],
    ],
    [
      'q2',
      [
        { id: 'b', score: -2 },
        { id: 'd', score: -3 },
      ],
    ],
    ['q3', []],
  ]);
});

test('no more than were asked for', () => {
  expect([...runOfScores(corpus, table, pool, scores, 1).values()].map((ranked) => ranked.map(({ id }) => id))).toEqual(
    [['c'], ['b'], []],
  );
});
