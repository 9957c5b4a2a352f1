import { z } from 'zod';
import type { CandidateIndex, Candidates, QueryBatch } from '../model/candidates.ts';
import { candidateCount, type IndexDefinition } from './index-definition.ts';
import { allocateCandidates, assertQueries } from './query-batch.ts';

const options = z.strictObject({ index: z.literal('newest'), k: candidateCount });

export const newest: IndexDefinition<typeof options> = {
  options,
  reads: ['times'],
  description: 'the latest turns, whatever they say',
};

/**
 * The newest turns, whatever they say. The score is 1 / (1 + rank by age), so it falls strictly: turns of one moment keep the order of the corpus, which from its
 * end is the tie rule's.
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
      for (let rank = 0; rank < Math.min(k, cutoff); rank++) {
        candidates.positions[query * k + rank] = cutoff - 1 - rank;
        candidates.scores[query * k + rank] = 1 / (1 + rank);
      }
    }
    return candidates;
  }

  dispose(): void {}
}
