// A dataset: conversations that a program makes; a loader may as well read files or a database.
import { definePlugin, fromTurns, z } from 'rag-plusplus';

const WORDS = ['lentils', 'kernel', 'violin', 'orchid', 'mortgage', 'platform', 'garlic', 'driver', 'bow', 'moss'];
const HOUR = 3_600_000;

export default definePlugin({
  name: 'counted-dataset',
  version: 1,
  datasets: [
    {
      name: 'counted',
      description: 'conversations of three turns about one word each',
      options: { conversations: z.int().min(4).default(20) },
      load(options: { conversations: number }) {
        const words = Array.from({ length: options.conversations }, (_, i) => WORDS[i % WORDS.length] as string);
        const at = (i: number, turn: number) => Date.UTC(2024, 0, 1) + (10 * i + turn) * HOUR;
        const turns = words.flatMap((word, i) =>
          ['first', 'second', 'third'].map((place, turn) => ({
            id: `t${i}-${turn}`,
            conversationId: `c${i}`,
            timestamp: at(i, turn),
            text: `the ${place} remark of talk ${i} on ${word}`,
          })),
        );
        const asked = (word: string, i: number) => ({
          id: `q${i}`,
          text: `second ${word}`,
          timestamp: at(i, 3),
          conversationId: `c${i}`,
        });
        return fromTurns(turns, words.map(asked), Object.fromEntries(words.map((_, i) => [`q${i}`, [`t${i}-1`]])));
      },
    },
  ],
});
