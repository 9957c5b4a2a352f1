import type { SliceOptions } from '../../../kernel/slices/slice-options.ts';
import { findLowerBound } from '../../../model/turns/corpus.ts';
import type { PropagationOptions } from '../../../ops/attention/options.ts';
import { findVersionRows, propagatedRows } from '../../signals/cosine.ts';
import type { World } from '../../signals/signal.ts';
import { joinFilters } from '../candidate-sources.ts';
import { createPoolFilter, listVisibleTurns, SAME_CHANNEL } from '../query-filter.ts';
import { openSlices } from '../signed-slices.ts';
import { type Applied, defineStep, type Outline, type RankState, requirePool } from './step.ts';

function withView(before: Outline, view: Partial<Outline['view']>): Outline {
  return { ...before, view: { ...before.view, ...view } };
}

/** The queries that a list of turns keeps from an earlier turn of what they ask. @param visible [Q] ascending */
function countNarrowed({ subcorpora, batch }: World, visible: readonly Int32Array[]): number {
  const parts = subcorpora.split({ ...batch, visible });
  return parts.reduce((sum, { batch: { cutoffs, visible: lists = [] } }) => {
    const isNarrowed = (cutoff: number, query: number) => findLowerBound(lists[query] as Int32Array, cutoff) < cutoff;
    return sum + cutoffs.filter(isNarrowed).length;
  }, 0);
}

/** The queries of which a source found a turn that a filter refuses. */
async function countRefused(where: string, { state: { world }, outline }: Applied): Promise<number> {
  const admits = createPoolFilter([where], world);
  const refused = new Set<number>();
  for (const { found } of outline.sources) {
    const { positions, width } = await world.get(found);
    for (const [i, position] of positions.entries()) {
      const query = Math.floor(i / width);
      if (position >= 0 && !refused.has(query) && !admits(query, position)) refused.add(query);
    }
  }
  return refused.size;
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
  countEffects: async ({ where }, applied) => {
    if (applied.isSearched) return { '': await countRefused(where, applied) };
    const { world } = applied.state;
    const accepted = await world.keepOnce(['visible', where], () => listVisibleTurns(where, world));
    return { '': countNarrowed(world, accepted) };
  },
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
  countEffects: async (options, { state: { world } }) => ({
    '': countNarrowed(world, await openSlices(world, options)),
  }),
  reads: () => ['slices'],
});

/** The queries with a candidate whose vector is not its own. */
async function countMixed(options: PropagationOptions, state: RankState): Promise<number> {
  const { world } = state;
  const pool = requirePool(state);
  const { dimension, turnVectors, batch } = world;
  const versions = await world.get(propagatedRows(options));
  const rows = findVersionRows(versions, pool, batch.cutoffs);
  const isMixed = (row: number, pair: number) => {
    const [own, mixed] = [(pool.positions[pair] as number) * dimension, row * dimension];
    return row >= 0 && turnVectors.subarray(own, own + dimension).some((x, i) => x !== versions.vectors[mixed + i]);
  };
  const mixed = new Set<number>();
  for (const [pair, row] of rows.entries()) {
    const query = Math.floor(pair / pool.width);
    if (!mixed.has(query) && isMixed(row, pair)) mixed.add(query);
  }
  return mixed.size;
}

/** Vectors of turns mixed with those of their conversations, for the index `flat`. */
export const propagate = defineStep<PropagationOptions>({
  name: 'propagate',
  summary: "mixes each turn's vector with those of its conversation, for the index `flat`",
  takes: ['turns'],
  outline: (options, before) => withView(before, { propagation: options }),
  countEffects: async (options, { state }) => ({ '': await countMixed(options, state) }),
  reads: () => ['order'],
  needs: (_, __, find) => {
    if (find({ name: 'propagation', reads: ['order'] }) !== 'threads') return [];
    return [{ needs: 'threads', part: 'propagation', remedy: 'leave the step propagate out' }];
  },
});
