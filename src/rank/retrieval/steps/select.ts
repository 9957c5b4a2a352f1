import { findSelectionColumn, type SelectionOptions } from '../../rerank/registry.ts';
import { selectTop } from '../select-top.ts';
import { defineStep, PendingScores, requirePool } from './step.ts';

/** The component with the composed scores, which the first selection of an arm reads. */
const BEFORE = 'before selection';

/** The best K in the order of a selection, then the others in their old order. */
export const select = defineStep<SelectionOptions>({
  name: 'select',
  summary: 'orders the best K anew: MMR, the diversity filter, distance in the graph, mentions, a cross-encoder',
  takes: ['scores', 'ranking'],
  gives: 'ranking',
  stages: (options, _, __, pool, plan) => {
    const column = findSelectionColumn(options);
    return column === null ? [] : [plan.stage(column, pool)];
  },
  apply: async (options, state, _, watch, component) => {
    const pool = requirePool(state);
    const before = await (state.scores as PendingScores).read(watch);
    const isFirst = !state.components.has(BEFORE);
    const order = await watch(isFirst ? 'selection' : component, () =>
      selectTop(state.workspace, pool, before, options),
    );
    return {
      ...state,
      components: new Map([...state.components, [isFirst ? BEFORE : `before ${component}`, before] as const]),
      scores: new PendingScores([pool.queryCount, pool.width], order),
    };
  },
  reads: () => [],
  comparesVectors: (options) => findSelectionColumn(options) === null,
});
