import { expect, test } from 'vitest';
import type { Query } from '../model/dataset.ts';
import { qrelsOf } from './prepared.ts';

const queryOf = (id: string): Query => ({
  id,
  text: id,
  timestamp: 7,
  anchorTurnId: null,
  author: null,
  channel: null,
  split: 'dev',
  cluster: 't',
});
const judged = (queryId: string, turnId: string, grade: number) => ({ queryId, turnId, grade });

test('judgements are kept by query, in the order of the queries, those without any included', () => {
  const queries = ['q2', 'q1', 'q3'].map(queryOf);
  const qrels = qrelsOf(queries, [judged('q3', 'm1', 3), judged('q2', 'm5', 1), judged('q3', 'm2', 0)]);
  expect([...qrels].map(([id, grades]) => [id, [...grades]])).toEqual([
    ['q2', [['m5', 1]]],
    ['q1', []],
    [
      'q3',
      [
        ['m1', 3],
        ['m2', 0],
      ],
    ],
  ]);
});

test('a judgement of a query that is not there is left out', () => {
  expect([...qrelsOf([queryOf('q1')], [judged('q2', 'm1', 3)]).keys()]).toEqual(['q1']);
});
