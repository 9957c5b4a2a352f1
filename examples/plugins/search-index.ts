// An index: every second turn before the query.
import { definePlugin } from 'rag-plusplus';

export default definePlugin({
  name: 'alternate-index',
  version: 1,
  indexes: [
    {
      name: 'alternate',
      description: 'every second turn before the query, the newest first',
      reads: ['times'],
      create: () => ({
        search({ cutoffs }, k) {
          const positions = new Int32Array(cutoffs.length * k).fill(-1);
          const scores = new Float32Array(cutoffs.length * k);
          for (const [query, cutoff] of cutoffs.entries())
            for (let rank = 0; rank < k && cutoff - 1 - 2 * rank >= 0; rank++) {
              positions[query * k + rank] = cutoff - 1 - 2 * rank;
              scores[query * k + rank] = 1 / (1 + rank);
            }
          return { positions, scores, width: k };
        },
      }),
    },
  ],
});
