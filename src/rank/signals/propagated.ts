import type { PropagationOptions } from '../../ops/attention/options.ts';
import { defineStage } from './signal.ts';
import { drawPermutedOrder } from './worlds/permuted-order.ts';

/** The turns' vectors mixed with those of their conversation, a row for each stretch of time in which a turn's row stays as it is. */
export const propagatedRows = defineStage({
  name: 'propagated',
  module: import.meta.url,
  of: 'queries',
  isShared: true,
  reads: ['vectors', 'times', 'order'],
  compute: async ({ world }, options: PropagationOptions) => {
    const { propagateVersions } = await import('../../ops/attention/versioned-propagation.ts');
    const { corpus, turnVectors, batch, control, startProgress } = world;
    const order = control === null ? {} : { order: drawPermutedOrder(corpus, world.controlSeed(control)) };
    return propagateVersions(corpus, turnVectors, batch.cutoffs, options, { progress: startProgress, ...order });
  },
});
