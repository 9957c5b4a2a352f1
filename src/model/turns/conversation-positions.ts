import type { Corpus } from './corpus.ts';

/** For each conversation of the corpus the positions of its turns, ascending: its turns in ring order. */
export function listConversationPositions(corpus: Corpus): Int32Array[] {
  const positions = corpus.conversations.map((conversation) => new Int32Array(conversation.turns.length));
  for (let position = 0; position < corpus.size; position++) {
    const conversation = positions[corpus.conversationOf[position] as number] as Int32Array;
    conversation[corpus.ringPosition[position] as number] = position;
  }
  return positions;
}
