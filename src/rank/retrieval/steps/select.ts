import { findSelectionColumn, type SelectionOptions } from '../../rerank/registry.ts';
import { selectTop } from '../select-top.ts';
import { defineStep, PendingScores, requirePool } from './step.ts';

/** The best K in the order of a selection, then the others in their old order. */
export const select = defineStep<SelectionOptions>({
  name: 'select',
  summary: 'orders the best K anew: MMR, the diversity filter, distance in the graph, mentions, a cross-encoder',
  takes: ['scores'],
  gives: 'ranking',
  stages: (options, _, __, pool, plan) => {
    const column = findSelectionColumn(options);
    return column === null ? [] : [plan.stage(column, pool)];
  },
  apply: async (options, state, _, watch) => {
    const pool = requirePool(state);
    const before = await (state.scores as PendingScores).read(watch);
    const order = await watch('selection', () => selectTop(state.workspace, pool, before, options));
    return {
      ...state,
      components: new Map([...state.components, ['before selection', before] as const]),
      scores: new PendingScores([pool.queryCount, pool.width], order),
    };
  },
  reads: () => [],
  comparesVectors: (options) => findSelectionColumn(options) === null,
});
