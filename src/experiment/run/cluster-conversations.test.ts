import { describe, expect, test } from 'vitest';
import { Corpus } from '../../model/corpus.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turn.ts';
import { contentsByCluster, conversationsByCluster, conversationsWithout } from './cluster-conversations.ts';

const turn = (id: string, conversationId: string, channel: string | null = null): Turn => {
  return { id, conversationId, parentId: null, timestamp: 7, author: null, channel, text: 'x' };
};
const query = (id: string, cluster: string, others: Partial<Query> = {}): Query => {
  return {
    id,
    text: 'x',
    timestamp: 9,
    anchorTurnId: null,
    author: null,
    channel: null,
    split: 'dev',
    cluster,
    ...others,
  };
};
const dataset: Dataset = {
  name: 'made up',
  declaration: { task: '', features: [], licence: '' },
  corpus: new Corpus([
    turn('a0', 'a'),
    turn('b0', 'b', 'log'),
    turn('c0', 'c', 'log'),
    turn('d0', 'd'),
    turn('e0', 'e'),
    turn('f0', 'f'),
    turn('g0', 'g'),
  ]),
  queries: [
    query('q0', 'a'),
    query('q1', 'other', { conversationId: 'd' }),
    query('q2', 'other', { turnId: 'e0' }),
    query('q3', 'alone'),
    query('q4', 'log'),
    query('q5', 'nowhere'),
  ],
  qrels: new Map([
    ['q0', new Map([['g0', 1]])],
    ['q1', new Map([['g0', 1]])],
    ['q3', new Map([['f0', 1]])],
  ]),
  relevantGrade: 1,
  gradeNames: {},
  devConversations: new Set(['a', 'b', 'c', 'd', 'e', 'f']),
  facts: {},
  hash: 'h',
};

test.each([
  ['its name', 'a', ['a']],
  ['the name of its channel', 'log', ['b', 'c']],
  ['what its queries ask or come from', 'other', ['d', 'e']],
  ['what answers its queries, where nothing else is known', 'alone', ['f']],
  ['nothing', 'nowhere', []],
])('a cluster has the conversations that are known by %s', (_, cluster, conversations) => {
  expect([...(conversationsByCluster(dataset).get(cluster) ?? [])].sort()).toEqual(conversations);
});

test('encoders are fitted on the dev conversations of the other clusters', () => {
  expect([...conversationsWithout(dataset, ['log', 'other'])]).toEqual(['a', 'f']);
  expect(conversationsWithout(dataset, [])).toEqual(dataset.devConversations);
});

describe('contents of a cluster', () => {
  const of = (...turns: Turn[]) =>
    contentsByCluster({ ...dataset, corpus: new Corpus(turns), qrels: new Map(), queries: [query('q', 'a')] }).get('a');
  const opening = { ...turn('a0', 'a'), text: 'Shall we bake?' };

  test('are the same whatever its turns and conversations are called, and when they go on', () => {
    const [known] = of(opening) as [string];
    expect(known).toMatch(/^[0-9a-f]{16}$/);
    const renamed = contentsByCluster({
      ...dataset,
      corpus: new Corpus([{ ...opening, id: 'x', conversationId: 'b' }]),
      qrels: new Map(),
      queries: [query('q', 'b')],
    });
    expect(renamed.get('b')).toEqual([known]);
    expect(of(opening, { ...turn('a1', 'a'), timestamp: 8 })).toEqual([known]);
  });

  test('are others where another text or time opens it under the same id', () => {
    expect(of({ ...opening, text: 'Shall we sing?' })).not.toEqual(of(opening));
    expect(of({ ...opening, timestamp: 6 })).not.toEqual(of(opening));
  });
});
