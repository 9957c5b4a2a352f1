import { expect, test } from 'vitest';
import { Counts } from './counts.ts';
import type { OasstMessage, OasstTree } from './oasst-schema.ts';
import { oasstTurnsOf } from './oasst-turns.ts';

const message = (
  id: string,
  replies: readonly OasstMessage[] = [],
  more: Partial<OasstMessage> = {},
): OasstMessage => ({
  message_id: id,
  text: `text of ${id}`,
  role: 'assistant',
  replies,
  ...more,
});
const tree = (prompt: OasstMessage): OasstTree => ({ message_tree_id: `t-${prompt.message_id}`, prompt });
const read = (trees: readonly OasstTree[]) => oasstTurnsOf(trees, new Counts());

test('a message is a turn of its tree, by its role', () => {
  expect(read([tree(message('a', [message('b')], { role: 'prompter' }))])).toEqual([
    {
      turn: {
        id: 'a',
        conversationId: 't-a',
        parentId: null,
        timestamp: 0,
        author: 'prompter',
        channel: null,
        text: 'text of a',
      },
      answers: false,
    },
    {
      turn: {
        id: 'b',
        conversationId: 't-a',
        parentId: 'a',
        timestamp: 60_000,
        author: 'assistant',
        channel: null,
        text: 'text of b',
      },
      answers: true,
    },
  ]);
});

test('takes tree after tree, level by level, siblings by rank and then as they stand', () => {
  const turns = read([
    tree(
      message('a', [
        message('unranked'),
        message('third', [message('below-third')], { rank: 2 }),
        message('first', [message('y', [], { rank: null }), message('x')], { rank: 0 }),
        message('last', [], { rank: null }),
        message('second', [], { rank: 1 }),
      ]),
    ),
    tree(message('b', [message('c')])),
  ]);
  expect(turns.map(({ turn: { id, timestamp } }) => [id, timestamp / 60_000])).toEqual([
    ['a', 0],
    ['first', 1],
    ['second', 2],
    ['third', 3],
    ['unranked', 4],
    ['last', 5],
    ['y', 6],
    ['x', 7],
    ['below-third', 8],
    ['b', 9],
    ['c', 10],
  ]);
});

test('what answered a message that is left out hangs from what that one answered, without answering it', () => {
  const counts = new Counts();
  const turns = oasstTurnsOf(
    [
      tree(
        message('a', [
          message('gone', [message('empty', [message('b', [message('c')])], { text: ' \n' })], { deleted: true }),
        ]),
      ),
      tree(message('gone-prompt', [message('d')], { deleted: true })),
    ],
    counts,
  );
  expect(turns.map(({ turn, answers }) => [turn.id, turn.parentId, turn.conversationId, answers])).toEqual([
    ['a', null, 't-a', false],
    ['b', 'a', 't-a', false],
    ['c', 'b', 't-a', true],
    ['d', null, 't-gone-prompt', false],
  ]);
  expect(counts.toFacts()).toEqual({ 'skipped: deleted messages': 2, 'skipped: messages without a text': 1 });
});
