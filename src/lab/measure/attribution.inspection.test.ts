import { expect, test } from 'vitest';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { buildQueryRecord, listInspectedTurns } from './attribution.ts';

const buildTurn = (
  id: string,
  conversationId: string,
  timestamp: number,
  parentId: string | null = null,
  text = id,
) => ({
  id,
  conversationId,
  parentId,
  timestamp,
  author: null,
  channel: null,
  text,
});
const corpus = new Corpus([
  buildTurn('a1', 'a', 1),
  buildTurn('b1', 'b', 2),
  buildTurn('a2', 'a', 3, 'a1'),
  buildTurn('c1', 'c', 4, null, `long ${'x'.repeat(700)}`),
  buildTurn('d1', 'd', 5),
]);
const query: Query = {
  id: 'q',
  text: 'where?',
  timestamp: 9,
  anchorTurnId: null,
  author: 'person-1',
  channel: null,
  split: 'test',
  cluster: 'a',
};
const dataset: Dataset = {
  name: 'test',
  declaration: { task: '', features: [], licence: '' },
  corpus,
  queries: [query],
  qrels: new Map([['q', new Map([['a2', 3]])]]),
  relevantGrade: 3,
  gradeNames: {},
  devConversations: new Set(),
  facts: {},
  hash: '',
};

test('the ranked turns and the whole conversations of the judged ones are shown, once, in time order', () => {
  const rankings = [
    [{ id: 'c1', score: 1, components: [] }],
    [
      { id: 'c1', score: 1, components: [] },
      { id: 'a2', score: 0, components: [] },
    ],
  ];
  const turns = listInspectedTurns(dataset, [query], rankings);
  expect(turns.map(({ id }) => id)).toEqual(['a1', 'a2', 'c1']);
  expect(turns[2]?.text).toMatch(/^long x+…$/);
  expect(turns[2]?.text).toHaveLength(600);
});

test('a query comes with its judgements', () => {
  expect(buildQueryRecord(dataset, query)).toEqual({
    id: 'q',
    text: 'where?',
    timestamp: 9,
    author: 'person-1',
    channel: null,
    cluster: 'a',
    kind: null,
    turnId: null,
    judgements: { a2: 3 },
  });
});

test('a query record reads its judgements when they are asked for', () => {
  const asked: string[] = [];
  class Watched extends Map<string, ReadonlyMap<string, number>> {
    override get(id: string) {
      asked.push(id);
      return super.get(id);
    }
  }
  const record = buildQueryRecord({ ...dataset, qrels: new Watched(dataset.qrels) }, query);
  expect(asked).toEqual([]);
  expect(record.judgements).toEqual({ a2: 3 });
  expect(asked).toEqual(['q']);
});

test('a sensitive turn, and a query that is one, are shown without their texts', () => {
  const secret = { ...buildTurn('s', 'a', 6, null, 'the pin is 4711'), attributes: { sensitive: true } };
  const held = { ...dataset, corpus: new Corpus([...corpus.turns, secret]) };
  const asked: Query = { ...query, text: secret.text, turnId: 's' };
  const marked: Query = { ...query, text: secret.text, attributes: { sensitive: true } };
  const shown = [
    ...listInspectedTurns(held, [query], []),
    buildQueryRecord(held, asked),
    buildQueryRecord(held, marked),
  ];
  expect(JSON.stringify(shown)).not.toContain('4711');
  expect(shown.filter(({ text }) => text === '(sensitive: not shown)')).toHaveLength(3);
  expect(buildQueryRecord(held, query).text).toBe('where?');
});
