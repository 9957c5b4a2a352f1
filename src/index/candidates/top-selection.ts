import { z } from 'zod';
import type { CandidateIndex, Candidates, QueryBatch } from '../../model/candidates.ts';
import type { TieOrder } from '../../model/turns/tie-rule.ts';
import { candidateCount, type IndexDefinition } from './index-definition.ts';
import { allocateCandidates, assertQueries, listVisibleTurns } from './query-batch.ts';

const options = z.strictObject({ index: z.literal('newest'), k: candidateCount });

export const newest: IndexDefinition<typeof options> = {
  options,
  reads: ['times'],
  description: 'the latest turns, whatever they say',
};

/**
 * The newest turns that a query may see, whatever they say. The score is 1 / (1 + rank by age among them), so it falls
 * strictly: turns of one moment keep the order of the corpus, which from its end is the tie rule's.
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

/**
 * Keeps the best k of the scored positions that it is offered, by the tie rule: a binary heap with the worst of them at its root, O(log k) an offer. Scores are
 * rounded to float32 first, since that is what is ranked and written.
 */
export class TopSelection {
  readonly #compareTies: TieOrder;
  readonly #positions: Int32Array;
  readonly #scores: Float32Array;
  #size = 0;

  /** @param compareTies of positions. */
  constructor(k: number, compareTies: TieOrder) {
    this.#compareTies = compareTies;
    this.#positions = new Int32Array(k);
    this.#scores = new Float32Array(k);
  }

  /** No score below it is kept; of equal ones those that the tie rule prefers. */
  get least(): number {
    return this.#size < this.#positions.length ? Number.NEGATIVE_INFINITY : this.#scores[0]!;
  }

  offer(position: number, score: number): void {
    const rounded = Math.fround(score);
    if (this.#size < this.#positions.length) this.#rise(this.#size++, position, rounded);
    else if (this.#isWorseAt(0, position, rounded)) this.#sink(position, rounded);
  }

  /** Writes the kept candidates as one row, best first, and starts again. */
  drainTo(candidates: Candidates, row: number): void {
    while (this.#size > 0) {
      const rank = row * candidates.width + --this.#size;
      candidates.positions[rank] = this.#positions[0]!;
      candidates.scores[rank] = this.#scores[0]!;
      this.#sink(this.#positions[this.#size]!, this.#scores[this.#size]!);
    }
  }

  /** True if the candidate at a place of the heap is worse than another. */
  #isWorseAt(at: number, position: number, score: number): boolean {
    const own = this.#scores[at]!;
    return own < score || (own === score && this.#compareTies(this.#positions[at]!, position) > 0);
  }

  #put(at: number, position: number, score: number): void {
    this.#positions[at] = position;
    this.#scores[at] = score;
  }

  /** Puts a candidate at a leaf, and moves better ones that are above it down. */
  #rise(leaf: number, position: number, score: number): void {
    let at = leaf;
    for (let parent = (at - 1) >> 1; at > 0 && !this.#isWorseAt(parent, position, score); parent = (at - 1) >> 1) {
      this.#put(at, this.#positions[parent]!, this.#scores[parent]!);
      at = parent;
    }
    this.#put(at, position, score);
  }

  /** Puts a candidate in place of the root, and moves worse ones that are below it up. */
  #sink(position: number, score: number): void {
    let at = 0;
    for (let child = 1; child < this.#size; child = 2 * at + 1) {
      if (child + 1 < this.#size && this.#isWorseAt(child + 1, this.#positions[child]!, this.#scores[child]!)) child++;
      if (!this.#isWorseAt(child, position, score)) break;
      this.#put(at, this.#positions[child]!, this.#scores[child]!);
      at = child;
    }
    this.#put(at, position, score);
  }
}
