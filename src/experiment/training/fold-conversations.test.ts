import { expect, test } from 'vitest';
import { Corpus } from '../../model/corpus.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turn.ts';
import { conversationsOf, conversationsWithout } from './fold-conversations.ts';

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
  ['what its queries ask and stand in', 'other', ['d', 'e']],
  ['what answers its queries, where nothing else is known', 'alone', ['f']],
  ['nothing', 'unheard of', []],
])('a cluster has the conversations that are known by %s', (_, cluster, conversations) => {
  expect([...conversationsOf(dataset, [cluster])].sort()).toEqual(conversations);
});

test('encoders are fitted on the dev conversations of the other clusters', () => {
  expect([...conversationsWithout(dataset, ['log', 'other'])]).toEqual(['a', 'f']);
  expect(conversationsWithout(dataset, [])).toEqual(dataset.devConversations);
});
