import type { Query } from '../../../model/dataset.ts';
import type { Turn } from '../../../model/turns/memory-record.ts';
import { LEFT_OUT, rank } from '../rank.ts';
import { defineStep, PendingScores, requirePool, type StepDefinition, type StepOf } from './step.ts';

/** A candidate in the ranking of its query. */
export interface RankedCandidate {
  readonly query: Query;
  readonly turn: Turn;
  /** Of the turn in the corpus. */
  readonly position: number;
  /** From 1. */
  readonly rank: number;
  readonly score: number;
}

/** Which candidates of one query stay, true or false for each. @param ranked best first. */
export type KeepCandidates = (ranked: readonly RankedCandidate[]) => readonly boolean[];

/** A step that leaves candidates out of the ranking; those that stay keep their scores and their order. */
export function defineKeepStep<O>({
  keep,
  ...definition
}: Omit<StepDefinition<O>, 'takes' | 'gives' | 'apply'> & {
  /** Called once for all queries. */
  readonly keep: (options: O) => KeepCandidates | Promise<KeepCandidates>;
}): StepOf<O> {
  return defineStep<O>({
    ...definition,
    takes: ['scores', 'ranking'],
    gives: 'ranking',
    apply: async (options, state, _, watch, component) => {
      const pool = requirePool(state);
      const { corpus, queries } = state.workspace;
      const scores = await (state.scores as PendingScores).read(watch);
      const kept = await watch(component, async () => {
        const keeps = await keep(options);
        const name = (query: number, position: number) =>
          `query ${queries[query]?.id}, turn ${corpus.turns[position]?.id}`;
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
          for (const [i, stays] of keeps(ranked).entries())
            if (!stays) column[start + (filled[i] as number)] = LEFT_OUT;
        }
        return column;
      });
      return { ...state, scores: new PendingScores([pool.queryCount, pool.width], kept) };
    },
  });
}
