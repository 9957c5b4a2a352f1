import type { SliceOptions } from '../../../kernel/slices/slice-options.ts';
import type { PropagationOptions } from '../../../ops/attention/options.ts';
import { joinFilters } from '../candidate-sources.ts';
import { SAME_CHANNEL } from '../query-filter.ts';
import { defineStep, type Outline } from './step.ts';

function withView(before: Outline, view: Partial<Outline['view']>): Outline {
  return { ...before, view: { ...before.view, ...view } };
}

/** A filter before the search limits what the sources search; after it, turns that it refuses leave the pool. */
export const filter = defineStep<{ readonly where: string }>({
  name: 'filter',
  summary:
    'keeps the turns that an expression accepts: before `search`, its sources see no others; after it, others leave the pool',
  takes: ['turns', 'pool'],
  outline: ({ where }, before) =>
    before.sources.length === 0
      ? withView(before, { filter: joinFilters(before.view.filter, where) })
      : { ...before, poolFilters: [...before.poolFilters, where] },
  needs: ({ where }, _, find) => {
    if (where !== SAME_CHANNEL || find({ name: 'filter', reads: ['replies'] }) !== 'threads') return [];
    return [{ needs: 'threads', part: `filter ${where}`, remedy: 'leave the filter out' }];
  },
});

/** The turns that a kernel signs for each query. */
export const slice = defineStep<SliceOptions>({
  name: 'slice',
  summary: 'queries see the turns that a kernel signs for them by a policy',
  takes: ['turns'],
  outline: (options, before) => withView(before, { slice: options }),
  reads: () => ['slices'],
});

/** Vectors of turns mixed with those of their conversations, for the index `flat`. */
export const propagate = defineStep<PropagationOptions>({
  name: 'propagate',
  summary: "mixes each turn's vector with those of its conversation, for the index `flat`",
  takes: ['turns'],
  outline: (options, before) => withView(before, { propagation: options }),
  reads: () => ['order'],
  needs: (_, __, find) => {
    if (find({ name: 'propagation', reads: ['order'] }) !== 'threads') return [];
    return [{ needs: 'threads', part: 'propagation', remedy: 'leave the step propagate out' }];
  },
});
