// Two steps: one that changes scores, and one that leaves candidates out.
import { definePlugin, z } from 'rag-plusplus';

const HOUR = 3_600_000;

export default definePlugin({
  name: 'floor-steps',
  version: 1,
  steps: [
    {
      name: 'recency-floor',
      summary: 'halves scores for each half-life of age, but never takes more than 1 − floor of them',
      options: { halfLifeHours: z.number().positive().default(24), floor: z.number().min(0).max(1).default(0.2) },
      reads: ['times', 'clock'],
      score: ({ query, turn }, { halfLifeHours, floor }: { halfLifeHours: number; floor: number }) =>
        Math.max(floor, 2 ** ((turn.timestamp - query.timestamp) / HOUR / halfLifeHours)),
    },
    {
      name: 'each-conversation',
      summary: 'keeps the best candidates of each conversation, `most` of them',
      options: { most: z.int().min(1).default(1) },
      reads: ['replies'],
      keep(ranked, { most }: { most: number }) {
        const counts = new Map<string, number>();
        return ranked.map(({ turn: { conversationId } }) => {
          const count = (counts.get(conversationId) ?? 0) + 1;
          counts.set(conversationId, count);
          return count <= most;
        });
      },
    },
  ],
});
