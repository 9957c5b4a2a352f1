import type { FactClosings } from '../../model/turns/fact-closings.ts';
import { defineSignal } from './signal.ts';
import type { CurationArmOptions } from './signal-options.ts';
import { scoreBySubcorpus, selectScopeVectors } from './subcorpus.ts';

/** What curation by rules leaves of a turn, as of the query: 1, the importance of a tombstone, or 0 for a turn that another has the text of. */
export const curationSignal = defineSignal({
  name: 'curation',
  summary: 'what curation by rules leaves of the turn: 1, the tombstone’s factor, or 0 for a duplicate',
  module: import.meta.url,
  reads: ['texts', 'vectors', 'times'],
  compute: ({ world, pool }, options: CurationArmOptions) =>
    scoreBySubcorpus(world, pool, async ({ subcorpus, batch: { cutoffs } }, positions) => {
      const { curateTurns } = await import('./curate-turns.ts');
      const { shared, dimension } = world;
      const { since, factors } = await subcorpus.keepOnce(['curation', options], () =>
        curateTurns(subcorpus.corpus, selectScopeVectors(subcorpus, shared.turnVectors, dimension), dimension, options),
      );
      return Float32Array.from(positions, (position, pair) => {
        if (position < 0) return 0;
        const decided = since[position] as number;
        const isDecided = decided >= 0 && decided < (cutoffs[Math.floor(pair / pool.width)] as number);
        return isDecided ? (factors[position] as number) : 1;
      });
    }),
});

/** 1 while the fact of a turn holds, the tombstone's factor once a later one has closed it, as of the query. */
export const closedFactsSignal = defineSignal({
  name: 'closed-facts',
  summary: 'the tombstone’s factor for a turn whose fact a later turn closed before the query, else 1',
  module: import.meta.url,
  reads: ['attributes', 'times'],
  compute: ({ world, pool }, { facts = 'anyone', tombstone }: CurationArmOptions) =>
    scoreBySubcorpus(world, pool, async ({ subcorpus, batch: { cutoffs } }, positions) => {
      const { FactClosings } = await import('../../model/turns/fact-closings.ts');
      const addLater = (closings: FactClosings) => {
        for (const turn of subcorpus.corpus.turns.slice(closings.size)) closings.add(turn);
        return closings;
      };
      const key = ['closed-facts', facts];
      const { closedAt } = await subcorpus.keepOnce(key, () => addLater(new FactClosings(facts)), addLater);
      return Float32Array.from(positions, (position, pair) => {
        if (position < 0) return 0;
        const at = closedAt[position] as number;
        return at >= 0 && at < (cutoffs[Math.floor(pair / pool.width)] as number) ? tombstone : 1;
      });
    }),
});
