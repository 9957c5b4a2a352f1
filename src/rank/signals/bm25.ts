import { type Bm25Index, type Bm25IndexOptions, createBm25 } from '../../index/words/bm25.ts';
import { defineSignal } from './signal.ts';
import { type Subcorpus, scoreBySubcorpus } from './subcorpus.ts';

/** An index over the turns of a subcorpus. */
function createIndexOver(
  { k1, b, variant, dropStopWords, stem }: Bm25IndexOptions,
  subcorpus: Subcorpus,
): Promise<Bm25Index> {
  const scoring = { k1, b, variant, dropStopWords, stem };
  return subcorpus.keepOnce(
    ['bm25', scoring],
    () => createBm25(scoring, subcorpus),
    async (earlier) => {
      await earlier.growWith(subcorpus);
      return earlier;
    },
  );
}

/** BM25 of every pair as of the query's moment. */
export const bm25Signal = defineSignal({
  name: 'bm25',
  summary: "BM25 of the query's words, with the document frequencies at the time of the query",
  module: import.meta.url,
  reads: ['texts', 'times'],
  key: ({ k: _, ...scoring }: Bm25IndexOptions) => scoring,
  compute: ({ world, pool }, options) =>
    scoreBySubcorpus(world, pool, async ({ subcorpus, batch }, positions) => {
      const index = await createIndexOver(options, subcorpus);
      return index.scorePairs(batch, positions, pool.width);
    }),
});
