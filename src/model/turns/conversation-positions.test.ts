import { expect, test } from 'vitest';
import { listConversationPositions } from './conversation-positions.ts';
import { Corpus } from './corpus.ts';

test('lists the positions of each conversation in time order', () => {
  const buildTurn = (id: string, conversationId: string, timestamp: number) => ({
    id,
    conversationId,
    parentId: null,
    timestamp,
    author: null,
    channel: null,
    text: id,
  });
  const corpus = new Corpus([
    buildTurn('d', 'x', 4),
    buildTurn('a', 'y', 1),
    buildTurn('c', 'y', 3),
    buildTurn('b', 'x', 2),
    buildTurn('e', 'y', 4),
  ]);
  const byId = new Map(
    corpus.conversations.map(({ id }, i) => [id, [...(listConversationPositions(corpus)[i] ?? [])]]),
  );
  expect(byId).toEqual(
    new Map([
      ['y', [0, 2, 4]],
      ['x', [1, 3]],
    ]),
  );
});
