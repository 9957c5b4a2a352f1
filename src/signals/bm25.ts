import { type Bm25Index, createBm25 } from '../candidates/bm25.ts';
import type { Bm25IndexOptions } from '../candidates/bm25-options.ts';
import { mapLocalRows, type Subcorpus } from './conversation-scope.ts';
import { defineSignal, type World } from './signal.ts';

/** An index over the turns of a scope. */
function indexScope(
  { shared }: World,
  { k1, b, variant, dropStopWords, stem }: Bm25IndexOptions,
  scope: Subcorpus,
): Promise<Bm25Index> {
  const scoring = { k1, b, variant, dropStopWords, stem };
  return shared.keepOnce(['bm25', scoring, scope.conversationId], () => createBm25(scoring, scope));
}

/** BM25 of every pair as of the query's moment. */
export const bm25Signal = defineSignal({
  name: 'bm25',
  summary: "BM25 of the query's words, with the document frequencies at the time of the query",
  module: import.meta.url,
  reads: ['texts', 'times'],
  key: ({ k: _, ...scoring }: Bm25IndexOptions) => scoring,
  compute: async ({ world, pool }, options) => {
    const { width } = pool;
    const column = new Float32Array(pool.positions.length);
    for (const { subcorpus: scope, queryIndexes: places, batch } of world.subcorpora.split(world.batch)) {
      const index = await indexScope(world, options, scope);
      const scores = await index.scorePairs(batch, mapLocalRows(scope, pool, places), width);
      for (const [row, place] of places.entries())
        column.set(scores.subarray(row * width, (row + 1) * width), place * width);
    }
    return column;
  },
});
