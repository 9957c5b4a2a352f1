import { z } from 'zod';
import { createTokenCounter, TOKEN_COUNTERS } from '../../../model/text/tokens.ts';
import { findSelectionColumn, type SelectionOptions } from '../../rerank/registry.ts';
import { selectTop } from '../select-top.ts';
import { defineKeepStep } from './keep.ts';
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

/** A budget of tokens for the texts of a ranking. */
export const packOptions = z.strictObject({
  /** The tokens of all texts that stay, together. */
  tokens: z.int().min(1),
  /** `prefix` ends at the first text that does not fit; `greedy` leaves such a text out and goes on. */
  fill: z.enum(['prefix', 'greedy']).default('prefix'),
  counter: z.enum(TOKEN_COUNTERS).default('words'),
});
type PackOptions = z.output<typeof packOptions>;

/** The best candidates whose texts fit a budget of tokens. */
export const pack = defineKeepStep<PackOptions>({
  name: 'pack',
  summary: 'keeps the best turns whose texts fit a budget of `tokens`',
  keep: async ({ tokens, fill, counter }) => {
    const countTokens = await createTokenCounter(counter);
    return (ranked) => {
      let left = tokens;
      let isFull = false;
      return ranked.map(({ turn }) => {
        const size = isFull ? 0 : countTokens(turn.text);
        isFull ||= fill === 'prefix' && size > left;
        if (isFull || size > left) return false;
        left -= size;
        return true;
      });
    };
  },
});
