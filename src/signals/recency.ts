import { mapLocalRows } from './conversation-scope.ts';
import { defineSignal } from './signal.ts';

/** Rank in time among the turns before the query: 1 for the newest, towards 0 for the oldest. */
export const recencySignal = defineSignal({
  name: 'recency',
  summary: 'rank in time among the turns before the query: 1 for the newest, towards 0 for the oldest',
  module: import.meta.url,
  reads: ['times'],
  key: () => null,
  compute: ({ world, pool }, _: null) => {
    const { width } = pool;
    const column = new Float32Array(pool.positions.length);
    for (const { subcorpus: scope, queryIndexes: places, batch } of world.subcorpora.split(world.batch)) {
      const positions = mapLocalRows(scope, pool, places);
      const recency = (position: number, pair: number) =>
        (position + 1) / Math.max(1, batch.cutoffs[Math.floor(pair / width)] as number);
      const scores = Float32Array.from(positions, recency);
      for (const [row, place] of places.entries())
        column.set(scores.subarray(row * width, (row + 1) * width), place * width);
    }
    return column;
  },
});
