import { describe, expect, test } from 'vitest';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { groupContentHashes, groupConversations, listUnheldConversations } from './passport.ts';

const buildTurn = (id: string, conversationId: string, channel: string | null = null): Turn => {
  return { id, conversationId, parentId: null, timestamp: 7, author: null, channel, text: 'x' };
};
const buildClusterQuery = (id: string, cluster: string, others: Partial<Query> = {}): Query => {
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
    buildTurn('a0', 'a'),
    buildTurn('b0', 'b', 'log'),
    buildTurn('c0', 'c', 'log'),
    buildTurn('d0', 'd'),
    buildTurn('e0', 'e'),
    buildTurn('f0', 'f'),
    buildTurn('g0', 'g'),
  ]),
  queries: [
    buildClusterQuery('q0', 'a'),
    buildClusterQuery('q1', 'other', { conversationId: 'd' }),
    buildClusterQuery('q2', 'other', { turnId: 'e0' }),
    buildClusterQuery('q3', 'alone'),
    buildClusterQuery('q4', 'log'),
    buildClusterQuery('q5', 'nowhere'),
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
  expect([...(groupConversations(dataset).get(cluster) ?? [])].sort()).toEqual(conversations);
});

test('encoders are fitted on the dev conversations of the other clusters', () => {
  expect([...listUnheldConversations(dataset, ['log', 'other'])]).toEqual(['a', 'f']);
  expect(listUnheldConversations(dataset, [])).toEqual(dataset.devConversations);
});

describe('contents of a cluster', () => {
  const groupTurnContents = (...turns: Turn[]) =>
    groupContentHashes({
      ...dataset,
      corpus: new Corpus(turns),
      qrels: new Map(),
      queries: [buildClusterQuery('q', 'a')],
    }).get('a');
  const opening = { ...buildTurn('a0', 'a'), text: 'Shall we bake?' };

  test('are the same whatever its turns and conversations are called, and when they go on', () => {
    const [known] = groupTurnContents(opening) as [string];
    expect(known).toMatch(/^[0-9a-f]{16}$/);
    const renamed = groupContentHashes({
      ...dataset,
      corpus: new Corpus([{ ...opening, id: 'x', conversationId: 'b' }]),
      qrels: new Map(),
      queries: [buildClusterQuery('q', 'b')],
    });
    expect(renamed.get('b')).toEqual([known]);
    expect(groupTurnContents(opening, { ...buildTurn('a1', 'a'), timestamp: 8 })).toEqual([known]);
  });

  test('are others where another text or time opens it under the same id', () => {
    expect(groupTurnContents({ ...opening, text: 'Shall we sing?' })).not.toEqual(groupTurnContents(opening));
    expect(groupTurnContents({ ...opening, timestamp: 6 })).not.toEqual(groupTurnContents(opening));
  });
});
