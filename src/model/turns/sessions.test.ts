import { expect, test } from 'vitest';
import { Corpus } from './corpus.ts';
import { findNeighbour, groupSessions } from './sessions.ts';

const PLACES = ['a list', 'b list', 'a chat', 'b list', 'a list', 'b chat'];
const corpus = new Corpus(
  PLACES.map((place, n) => ({
    ...{ id: `t${n}`, conversationId: place.slice(0, 1), parentId: null, timestamp: n, author: null },
    ...{ channel: place.slice(2), text: 'x' },
  })),
);
const listMembers = (kind: 'session' | 'channel') => groupSessions(corpus, kind).members.map((turns) => [...turns]);

test('a session is a conversation in a channel; by channel all of its conversations are one', () => {
  expect(listMembers('session')).toEqual([[0, 4], [1, 3], [2], [5]]);
  expect(listMembers('channel')).toEqual([
    [0, 1, 3, 4],
    [2, 5],
  ]);
  expect(groupSessions(corpus).members).toEqual(listMembers('session'));
  expect([-2, -1, 1].map((step) => findNeighbour(groupSessions(corpus, 'channel'), 3, step))).toEqual([0, 1, 4]);
  expect([-2, -1, 1].map((step) => findNeighbour(groupSessions(corpus), 3, step))).toEqual([-1, 1, -1]);
});
