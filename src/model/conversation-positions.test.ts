import { expect, test } from 'vitest';
import { conversationPositions } from './conversation-positions.ts';
import { Corpus } from './corpus.ts';

test('lists the positions of each conversation in time order', () => {
  const turn = (id: string, conversationId: string, timestamp: number) => ({
    id,
    conversationId,
    parentId: null,
    timestamp,
    author: null,
    channel: null,
    text: id,
  });
  const corpus = new Corpus([
    turn('d', 'x', 4),
    turn('a', 'y', 1),
    turn('c', 'y', 3),
    turn('b', 'x', 2),
    turn('e', 'y', 4),
  ]);
  const byId = new Map(corpus.conversations.map(({ id }, i) => [id, [...(conversationPositions(corpus)[i] ?? [])]]));
  expect(byId).toEqual(
    new Map([
      ['y', [0, 2, 4]],
      ['x', [1, 3]],
    ]),
  );
});
