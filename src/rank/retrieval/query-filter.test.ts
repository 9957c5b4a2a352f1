import { expect, test } from 'vitest';
import type { Query } from '../../model/dataset.ts';
import { buildTurnsWith } from '../../model/turns/conversations.fixture.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { createPoolFilter, listVisibleTurns } from './query-filter.ts';

const turns = buildTurnsWith([{ phase: 'early' }, { phase: 'late' }, null]);
const describeQuery = (id: string, attributes?: Query['attributes']): Query => ({
  id,
  text: 'x',
  timestamp: 9,
  anchorTurnId: null,
  author: null,
  channel: null,
  split: 'test',
  cluster: id,
  ...(attributes === undefined ? {} : { attributes }),
});
const world = {
  corpus: new Corpus(turns),
  queries: [describeQuery('a', { phase: 'late' }), describeQuery('b'), describeQuery('c', { phase: 'late' })],
};

test('a variable is an attribute of the query, null for one without it', () => {
  const lists = listVisibleTurns('phase = $query.phase', world);
  expect(lists.map((list) => [...list])).toEqual([[1], [2], [1]]);
  expect(lists[0]).toBe(lists[2]);
  const admits = createPoolFilter(['phase = $query.phase'], world);
  expect([0, 1, 2].map((position) => admits(0, position))).toEqual([false, true, false]);
});

test('a variable that every object has is none of the query', () => {
  expect([...(listVisibleTurns('phase = $query.toString', world)[0] as Int32Array)]).toEqual([2]);
});
