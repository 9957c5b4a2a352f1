// An index: every second turn that the query may see.
import { definePlugin } from 'rag-plusplus';
import { listVisibleTurns } from 'rag-plusplus/index';

export default definePlugin({
  name: 'alternate-index',
  version: 1,
  indexes: [
    {
      name: 'alternate',
      description: 'every second turn before the query, the newest first',
      reads: ['times'],
      create: () => ({
        search(queries, k) {
          const { cutoffs } = queries;
          const positions = new Int32Array(cutoffs.length * k).fill(-1);
          const scores = new Float32Array(cutoffs.length * k);
          for (const [query, cutoff] of cutoffs.entries()) {
            const visible = listVisibleTurns(queries, query); // null: every turn before the cutoff
            const count = visible?.length ?? cutoff;
            for (let rank = 0; rank < k && count - 1 - 2 * rank >= 0; rank++) {
              const at = count - 1 - 2 * rank;
              positions[query * k + rank] = visible?.[at] ?? at;
              scores[query * k + rank] = 1 / (1 + rank);
            }
          }
          return { positions, scores, width: k };
        },
      }),
    },
  ],
});
