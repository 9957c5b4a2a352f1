import { expect, test } from 'vitest';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { assertFeatureTable } from '../../rank/learning/feature-table.ts';
import type { CandidatePool } from '../../rank/signals/candidate-pool.ts';
import { buildFeatureTable } from './signal-features.ts';

const buildTurn = (id: string, timestamp: number) => ({
  id,
  conversationId: 'c',
  parentId: null,
  timestamp,
  author: null,
  channel: null,
  text: id,
});
const corpus = new Corpus([
  buildTurn('a', 1),
  buildTurn('b', 2),
  buildTurn('c', 3),
  buildTurn('d', 4),
  buildTurn('e', 5),
]);
const buildFeatureQuery = (id: string, cluster: string): Query => ({
  id,
  text: id,
  timestamp: 9,
  anchorTurnId: null,
  author: null,
  channel: null,
  split: 'dev',
  cluster,
});
const queries = [buildFeatureQuery('q1', 'c1'), buildFeatureQuery('q2', 'c2'), buildFeatureQuery('q3', 'c2')];
const qrels = new Map([
  [
    'q1',
    new Map([
      ['b', 2],
      ['d', 1],
      ['e', 3],
      ['c', 0],
    ]),
  ],
  [
    'q3',
    new Map([
      ['a', 1],
      ['b', -1],
    ]),
  ],
]);
const dataset = { corpus, qrels, relevantGrade: 2 } as unknown as Dataset;
const pool = { queryCount: 3, width: 2, positions: Int32Array.of(1, 2, 4, -1, -1, -1) } as unknown as CandidatePool;
const values = Float32Array.from({ length: 18 }, (_, i) => i);
const table = buildFeatureTable(dataset, queries, pool, { signals: ['x', 'y', 'z'], values });

test('a candidate has the grade of its turn, padding none', () => {
  expect([...table.grades]).toEqual([2, 0, 0, 0, 0, 0]);
  expect([...table.mask]).toEqual([1, 1, 1, 0, 0, 0]);
});

test('judged turns that no source has found are counted by query, grades below relevance too', () => {
  expect([...table.missed]).toEqual([2, 0, 1]);
  expect([...table.missedGrades]).toEqual([1, 3, 1]);
});

test('the rest is that of the queries and of the bank', () => {
  expect(table).toMatchObject({
    signals: ['x', 'y', 'z'],
    queryIds: ['q1', 'q2', 'q3'],
    clusters: ['c1', 'c2', 'c2'],
    width: 2,
    relevantGrade: 2,
  });
  expect(table.values).toBe(values);
  expect(() => assertFeatureTable(table)).not.toThrow();
});
