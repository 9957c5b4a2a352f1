import { z } from 'zod';
import type { CandidateIndex, Candidates, QueryBatch } from '../../model/candidates.ts';
import { candidateCount, type IndexDefinition } from './index-definition.ts';
import { allocateCandidates, assertQueries, listVisibleTurns } from './query-batch.ts';

const options = z.strictObject({ index: z.literal('newest'), k: candidateCount });

export const newest: IndexDefinition<typeof options> = {
  options,
  reads: ['times'],
  description: 'the latest turns, whatever they say',
};

/**
 * The newest turns that a query may see, whatever they say. The score is 1 / (1 + rank by age among them), so it falls strictly: turns of one moment keep the order
 * of the corpus, which from its end is the tie rule's.
 */
export class NewestFirstIndex implements CandidateIndex {
  readonly name = 'newest';
  readonly #size: number;

  /** @param size N, the turns of the corpus. */
  constructor(size: number) {
    this.#size = size;
  }

  async search(queries: QueryBatch, k: number): Promise<Candidates> {
    assertQueries(queries, this.#size, k);
    const candidates = allocateCandidates(queries.cutoffs.length, k);
    for (const [query, cutoff] of queries.cutoffs.entries()) {
      const visible = listVisibleTurns(queries, query);
      const count = visible?.length ?? cutoff;
      for (let rank = 0; rank < Math.min(k, count); rank++) {
        const last = count - 1 - rank;
        candidates.positions[query * k + rank] = visible === null ? last : (visible[last] as number);
        candidates.scores[query * k + rank] = 1 / (1 + rank);
      }
    }
    return candidates;
  }

  dispose(): void {}
}
