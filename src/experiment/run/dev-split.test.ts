import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors.ts';
import { Corpus } from '../../model/corpus.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
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
const query = (cluster: string, split: Query['split'] = 'dev'): Query => ({
  id: `q-${cluster}`,
  text: cluster,
  timestamp: 9,
  anchorTurnId: null,
  author: null,
  channel: null,
  split,
  cluster,
});
const dataset = (queries: Query[]): Dataset => ({
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
  const { fit, tuning } = splitDev(dataset([query('e'), query('b'), query('d'), query('c', 'test')]), 0.5);
  expect([...fit]).toEqual(['e', 'a']);
  expect(tuning.map(({ cluster }) => cluster)).toEqual(['b', 'd']);
});

test('nothing left to tune on is an error', () => {
  expect(() => splitDev(dataset([query('e'), query('c', 'test')]), 0.25)).toThrow(ValidationError);
  expect(() => splitDev(dataset([query('e')]), 0.25)).toThrow(/the last 0.25 of 4 dev conversations/);
});

test('where queries are resampled by something wider than a conversation, those of fitted conversations are still not tuned on', () => {
  const inLog = (turnId: string): Query => ({ ...query('log'), id: `q-${turnId}`, turnId });
  const asked = (conversationId: string): Query => ({ ...query('log'), id: `a-${conversationId}`, conversationId });
  const anchored = (anchorTurnId: string): Query => ({ ...query('log'), id: `n-${anchorTurnId}`, anchorTurnId });
  const queries = [inLog('e1'), inLog('b1'), asked('a'), asked('d'), anchored('a1'), anchored('b1')];
  expect(splitDev(dataset(queries), 0.5).tuning.map(({ id }) => id)).toEqual(['q-b1', 'a-d', 'n-b1']);
});
