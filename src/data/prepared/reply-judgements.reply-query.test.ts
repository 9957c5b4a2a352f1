import { expect, test } from 'vitest';
import { classifyQuery, replyQuery } from './reply-judgements.ts';

const turn = {
  id: 'b',
  conversationId: 'thread',
  parentId: 'a',
  timestamp: 1_700_000_000_123,
  author: 'ann',
  channel: 'log',
  text: 'Which of them is it?',
};

test('a reply asks with what it says, as of its own moment, and does not know whom it answers', () => {
  const query = replyQuery(turn, 'test', 'log');
  expect(query).toEqual({
    id: 'q-b',
    turnId: 'b',
    text: 'Which of them is it?',
    timestamp: 1_700_000_000_123,
    anchorTurnId: null,
    author: 'ann',
    channel: 'log',
    kind: 'question',
    split: 'test',
    cluster: 'log',
  });
});

test.each([
  ['Does it build?', 'question'],
  ['Does it build? Mine does.', 'question'],
  ['He asked "why?" and left.', 'question'],
  ['Really?!', 'question'],
  ['It builds.', 'statement'],
  ['See http://x.org/?id=7 for that.', 'statement'],
  ['Which one?)\nI took the first.', 'question'],
])('%j is a %s', (text, kind) => {
  expect(classifyQuery(text)).toBe(kind);
});
