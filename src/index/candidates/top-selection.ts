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
  readonly #compareTies: (a: number, b: number) => number;
  readonly #positions: Int32Array;
  readonly #scores: Float32Array;
  #size = 0;

  /** @param ties ranks of the ids in descending byte order, see {@link rankIdsDescending}; or an order of two positions, negative if the first is better. */
  constructor(k: number, ties: Int32Array | ((a: number, b: number) => number)) {
    this.#compareTies = typeof ties === 'function' ? ties : (a, b) => ties[a]! - ties[b]!;
    this.#positions = new Int32Array(k);
    this.#scores = new Float32Array(k);
  }

  offer(position: number, score: number): void {
    const rounded = Math.fround(score);
    if (this.#size < this.#positions.length) {
      this.#put(this.#size, position, rounded);
      this.#size++;
      this.#rise(this.#size - 1);
    } else if (this.#isWorse(this.#scores[0]!, this.#positions[0]!, rounded, position)) {
      this.#put(0, position, rounded);
      this.#siftDown(0);
    }
  }

  /** Writes the kept candidates as one row, best first, and starts again. */
  drainTo(candidates: Candidates, row: number): void {
    while (this.#size > 0) {
      const rank = row * candidates.width + this.#size - 1;
      candidates.positions[rank] = this.#positions[0]!;
      candidates.scores[rank] = this.#scores[0]!;
      this.#size--;
      this.#put(0, this.#positions[this.#size]!, this.#scores[this.#size]!);
      this.#siftDown(0);
    }
  }

  #isWorse(score: number, position: number, otherScore: number, otherPosition: number): boolean {
    return score < otherScore || (score === otherScore && this.#compareTies(position, otherPosition) > 0);
  }

  #isWorseAt(a: number, b: number): boolean {
    return this.#isWorse(this.#scores[a]!, this.#positions[a]!, this.#scores[b]!, this.#positions[b]!);
  }

  #put(at: number, position: number, score: number): void {
    this.#positions[at] = position;
    this.#scores[at] = score;
  }

  #swap(a: number, b: number): void {
    const [position, score] = [this.#positions[a]!, this.#scores[a]!];
    this.#put(a, this.#positions[b]!, this.#scores[b]!);
    this.#put(b, position, score);
  }

  #rise(start: number): void {
    let at = start;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isWorseAt(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #siftDown(start: number): void {
    let at = start;
    for (;;) {
      let worst = at;
      for (let child = 2 * at + 1; child <= 2 * at + 2 && child < this.#size; child++) {
        if (this.#isWorseAt(child, worst)) worst = child;
      }
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }
}
