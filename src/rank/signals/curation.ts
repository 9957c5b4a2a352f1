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
