import { z } from 'zod';
import type { Query } from '../../../model/dataset.ts';
import { createTokenCounter, TOKEN_COUNTERS } from '../../../model/text/tokens.ts';
import type { Turn } from '../../../model/turns/turn.ts';
import { findSelectionColumn, isReranking, type SelectionOptions } from '../../rerank/registry.ts';
import { LEFT_OUT, rank, selectTop } from '../rank.ts';
import { defineStep, PendingScores, type RankState, requirePool, type Watch } from './step.ts';

/** A candidate in the ranking of its query. */
export interface RankedCandidate {
  readonly query: Query;
  readonly turn: Turn;
  /** The position of the turn in the corpus. */
  readonly position: number;
  /** From 1. */
  readonly rank: number;
  readonly score: number;
}

/** Which candidates of one query stay, true or false for each. @param ranked best first. */
export type KeepCandidates = (ranked: readonly RankedCandidate[]) => readonly boolean[];

/**
 * Leaves candidates out of the ranking; those that stay keep their scores and their order.
 *
 * @param component of the step.
 */
export async function keepCandidates(
  keeps: KeepCandidates,
  state: RankState,
  watch: Watch,
  component: string,
): Promise<RankState> {
  const pool = requirePool(state);
  const { corpus, queries } = state.workspace;
  const scores = await (state.scores as PendingScores).read(watch);
  const kept = await watch(component, async () => {
    const name = (query: number, position: number) => `query ${queries[query]?.id}, turn ${corpus.turns[position]?.id}`;
    const { slots } = await rank(pool, scores, pool.width, name);
    const column = scores.slice();
    for (const [row, query] of queries.entries()) {
      const start = row * pool.width;
      const filled = slots.subarray(start, start + pool.width).filter((slot) => slot >= 0);
      const ranked = Array.from(filled, (slot, i): RankedCandidate => {
        const position = pool.positions[start + slot] as number;
        const turn = corpus.turns[position] as Turn;
        return { query, turn, position, rank: i + 1, score: scores[start + slot] as number };
      });
      for (const [i, stays] of keeps(ranked).entries()) if (!stays) column[start + (filled[i] as number)] = LEFT_OUT;
    }
    return column;
  });
  return { ...state, scores: new PendingScores([pool.queryCount, pool.width], kept) };
}

/** The component with the composed scores, which the first selection of an arm reads. */
const BEFORE = 'before selection';

/** The best K in the order of a selection, then the others in their old order. */
export const select = defineStep<SelectionOptions>({
  name: 'select',
  summary:
    'orders the best K again: MMR, the diversity filter, distance in the graph, mentions, a cross-encoder, late interaction',
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
  comparesVectors: ({ method }) => !isReranking(method),
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
export const pack = defineStep<PackOptions>({
  name: 'pack',
  summary: 'keeps the best turns whose texts fit a budget of `tokens`',
  takes: ['scores', 'ranking'],
  gives: 'ranking',
  apply: async ({ tokens, fill, counter }, state, _, watch, component) => {
    const countTokens = await createTokenCounter(counter);
    const keepFitting: KeepCandidates = (ranked) => {
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
    return keepCandidates(keepFitting, state, watch, component);
  },
});
