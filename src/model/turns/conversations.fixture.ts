import { Corpus } from './corpus.ts';
import type { Attributes } from './memory-fields.ts';
import type { Turn } from './turn.ts';

/**
 * Conversations c0, c1, … with these numbers of turns, without parents. Ids contain the position in the conversation.
 *
 * @param timeOf the time of a turn by its place and conversation; by default conversations alternate.
 */
export function buildConversationTurns(
  lengths: readonly number[],
  timeOf: (place: number, conversation: number) => number = (place, conversation) => 1000 * place + conversation,
): Corpus {
  const turns = lengths.flatMap((length, c) =>
    Array.from({ length }, (_, i) => ({
      id: `c${c}-${String(i).padStart(3, '0')}`,
      conversationId: `c${c}`,
      parentId: null,
      timestamp: timeOf(i, c),
      author: null,
      channel: null,
      text: 'turn',
    })),
  );
  return new Corpus(turns);
}

/** Turns t0, t1, … of one conversation, one a millisecond, with these attributes; null: without any. */
export function buildTurnsWith(attributes: readonly (Attributes | null)[]): Turn[] {
  return attributes.map((held, i) => ({
    ...{ id: `t${i}`, conversationId: 'c', parentId: null, timestamp: i, author: null, channel: null, text: 'x' },
    ...(held !== null && { attributes: held }),
  }));
}
