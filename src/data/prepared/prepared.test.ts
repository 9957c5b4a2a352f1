import { expect, test } from 'vitest';
import type { Query } from '../../model/dataset.ts';
import { groupJudgements } from './prepared.ts';

const buildPreparedQuery = (id: string): Query => ({
  id,
  text: id,
  timestamp: 7,
  anchorTurnId: null,
  author: null,
  channel: null,
  split: 'dev',
  cluster: 't',
});
const buildJudgement = (queryId: string, turnId: string, grade: number) => ({ queryId, turnId, grade });

test('judgements are kept by query, in the order of the queries, those without any included', () => {
  const queries = ['q2', 'q1', 'q3'].map(buildPreparedQuery);
  const qrels = groupJudgements(queries, [
    buildJudgement('q3', 'm1', 3),
    buildJudgement('q2', 'm5', 1),
    buildJudgement('q3', 'm2', 0),
  ]);
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
  expect([...groupJudgements([buildPreparedQuery('q1')], [buildJudgement('q2', 'm1', 3)]).keys()]).toEqual(['q1']);
});
