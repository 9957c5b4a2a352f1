import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { splitDev } from './dev-split.ts';

const conversations = ['e', 'a', 'd', 'b', 'c']; // in time order
const turns = conversations.map((id, time) => ({
  id: `${id}1`,
  conversationId: id,
  parentId: null,
  timestamp: time,
  author: null,
  channel: null,
  text: id,
}));
const buildDevQuery = (cluster: string, split: Query['split'] = 'dev'): Query => ({
  id: `q-${cluster}`,
  text: cluster,
  timestamp: 9,
  anchorTurnId: null,
  author: null,
  channel: null,
  split,
  cluster,
});
const buildDevDataset = (queries: Query[]): Dataset => ({
  name: 'five',
  declaration: { task: '', features: [], licence: '' },
  corpus: new Corpus(turns),
  queries,
  qrels: new Map(),
  relevantGrade: 1,
  gradeNames: {},
  devConversations: new Set(['e', 'a', 'd', 'b']),
  facts: {},
  hash: '',
});

test('the latest dev conversations are tuned on, the earlier ones fitted on, and test stays out of both', () => {
  const { fit, tuning } = splitDev(
    buildDevDataset([buildDevQuery('e'), buildDevQuery('b'), buildDevQuery('d'), buildDevQuery('c', 'test')]),
    0.5,
  );
  expect([...fit]).toEqual(['e', 'a']);
  expect(tuning.map(({ cluster }) => cluster)).toEqual(['b', 'd']);
});

test('nothing left to tune on is an error', () => {
  expect(() => splitDev(buildDevDataset([buildDevQuery('e'), buildDevQuery('c', 'test')]), 0.25)).toThrow(
    ValidationError,
  );
  expect(() => splitDev(buildDevDataset([buildDevQuery('e')]), 0.25)).toThrow(/the last 0.25 of 4 dev conversations/);
});

test('where queries are resampled by something wider than a conversation, those of fitted conversations are still not tuned on', () => {
  const buildLogQuery = (turnId: string): Query => ({ ...buildDevQuery('log'), id: `q-${turnId}`, turnId });
  const buildAskedQuery = (conversationId: string): Query => ({
    ...buildDevQuery('log'),
    id: `a-${conversationId}`,
    conversationId,
  });
  const buildAnchoredQuery = (anchorTurnId: string): Query => ({
    ...buildDevQuery('log'),
    id: `n-${anchorTurnId}`,
    anchorTurnId,
  });
  const queries = [
    buildLogQuery('e1'),
    buildLogQuery('b1'),
    buildAskedQuery('a'),
    buildAskedQuery('d'),
    buildAnchoredQuery('a1'),
    buildAnchoredQuery('b1'),
  ];
  expect(splitDev(buildDevDataset(queries), 0.5).tuning.map(({ id }) => id)).toEqual(['q-b1', 'a-d', 'n-b1']);
});
