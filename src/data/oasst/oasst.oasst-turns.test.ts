import { expect, test } from 'vitest';
import { Counts } from '../prepared/prepared.ts';
import { buildOasstTurns } from './oasst.ts';
import type { OasstMessage, OasstTree } from './oasst-schema.ts';

const buildMessage = (
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
const buildTree = (prompt: OasstMessage): OasstTree => ({ message_tree_id: `t-${prompt.message_id}`, prompt });
const read = (trees: readonly OasstTree[]) => buildOasstTurns(trees, new Counts());

test('a message is a turn of its tree, by its role', () => {
  expect(read([buildTree(buildMessage('a', [buildMessage('b')], { role: 'prompter' }))])).toEqual([
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

test('takes tree after tree, level by level, and within a level by id, so that siblings do not stand together', () => {
  const turns = read([
    buildTree(
      buildMessage('r', [
        buildMessage('n', [buildMessage('b'), buildMessage('z')]),
        buildMessage('m', [buildMessage('y'), buildMessage('a')]),
      ]),
    ),
    buildTree(buildMessage('q', [buildMessage('c')])),
  ]);
  expect(turns.map(({ turn: { id, timestamp } }) => [id, timestamp / 60_000])).toEqual([
    ['r', 0],
    ['m', 1],
    ['n', 2],
    ['a', 3],
    ['b', 4],
    ['y', 5],
    ['z', 6],
    ['q', 7],
    ['c', 8],
  ]);
});

test('what answered a message that is left out hangs from what that one answered, without answering it', () => {
  const counts = new Counts();
  const turns = buildOasstTurns(
    [
      buildTree(
        buildMessage('a', [
          buildMessage('gone', [buildMessage('empty', [buildMessage('b', [buildMessage('c')])], { text: ' \n' })], {
            deleted: true,
          }),
        ]),
      ),
      buildTree(buildMessage('gone-prompt', [buildMessage('d')], { deleted: true })),
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
