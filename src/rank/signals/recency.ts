import { defineSignal } from './signal.ts';
import { scoreBySubcorpus } from './subcorpus.ts';

/** Rank in time among the turns before the query: 1 for the newest, towards 0 for the oldest. */
export const recencySignal = defineSignal({
  name: 'recency',
  summary: 'rank in time among the turns before the query: 1 for the newest, towards 0 for the oldest',
  module: import.meta.url,
  reads: ['times'],
  key: () => null,
  compute: ({ world, pool }, _: null) =>
    scoreBySubcorpus(world, pool, ({ batch: { cutoffs } }, positions) =>
      Float32Array.from(positions, (position, pair) => {
        const cutoff = cutoffs[Math.floor(pair / pool.width)] as number;
        return (position + 1) / Math.max(1, cutoff);
      }),
    ),
});
