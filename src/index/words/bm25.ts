import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { createEventBreaks } from '../../core/values/event-loop.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../../model/candidates.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import { rankIdsDescending } from '../../model/turns/tie-rule.ts';
import type { IndexContext, ScorePairs } from '../candidates/index-definition.ts';
import { allocateCandidates, assertPairs, assertQueries, listVisibleTurns } from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';
import { BM25_DEFAULTS, type Bm25Options } from './bm25-options.ts';
import { BM25_VARIANTS } from './bm25-variants.ts';
import { TermPostings } from './term-postings.ts';

/**
 * BM25 at each query's time: the number of turns, their average length and the frequency of each term are those of the turns before the cutoff. Postings are in
 * time order, so the earlier postings of a term are a prefix, found by binary search; no index is rebuilt. A term of the query counts as often as it
 * occurs in it. Candidates are the turns with a score above 0.
 *
 * A list of visible turns hides results and changes no score: the statistics are those of all turns before the cutoff.
 *
 * A query costs the postings of its terms up to the cutoff, and one pass over the turns before it.
 */
export class Bm25Index implements CandidateIndex {
  readonly name = 'bm25';
  readonly #options: Bm25Options;
  readonly #postings: TermPostings;
  readonly #ranks: Int32Array;

  /**
   * @param ids [N] of the turns in time order.
   * @param texts [N]
   */
  constructor(ids: readonly string[], texts: readonly string[], options: Bm25Options = BM25_DEFAULTS) {
    if (ids.length !== texts.length) throw new DimensionMismatchError('texts of bm25', ids.length, texts.length);
    this.#options = options;
    this.#ranks = rankIdsDescending(ids);
    this.#postings = new TermPostings(texts, createTokeniser(options));
  }

  async search(queries: QueryBatch, k: number, progress: StartProgress = ignoreProgress): Promise<Candidates> {
    assertQueries(queries, this.#postings.size, k);
    const candidates = allocateCandidates(queries.cutoffs.length, k);
    const top = new TopSelection(k, this.#ranks);
    await this.#visitQueries(queries, k, progress, (query, scores) => {
      const offer = (position: number) => {
        if (scores[position]! > 0) top.offer(position, scores[position]!);
      };
      const visible = listVisibleTurns(queries, query);
      if (visible === null) for (let position = 0; position < scores.length; position++) offer(position);
      else visible.forEach(offer);
      top.drainTo(candidates, query);
    });
    return candidates;
  }

  /** The scores of given pairs at each query's time, row-major [Q, width]; 0 if a position is -1. */
  readonly scorePairs: ScorePairs<Float32Array> = async (queries, positions, width, progress = ignoreProgress) => {
    assertPairs(queries, positions, width);
    const pairScores = new Float32Array(positions.length);
    await this.#visitQueries(queries, width, progress, (query, scores) => {
      for (let rank = query * width; rank < (query + 1) * width; rank++) {
        const position = positions[rank]!;
        if (position >= 0) pairScores[rank] = scores[position]!;
      }
    });
    return pairScores;
  };

  /** Calls `use` with the scores of all turns before each query's cutoff; the array is reused. */
  async #visitQueries(
    queries: QueryBatch,
    k: number,
    progress: StartProgress,
    use: (query: number, scores: Float64Array) => void,
  ): Promise<void> {
    assertQueries(queries, this.#postings.size, k);
    const stage = progress('bm25', queries.cutoffs.length);
    const scores = new Float64Array(this.#postings.size);
    const ratios = new Float64Array(this.#postings.size);
    const pause = createEventBreaks();
    for (const [query, cutoff] of queries.cutoffs.entries()) {
      const prefix = scores.subarray(0, cutoff).fill(0);
      this.#score(this.#postings.countQueryTerms(queries.texts[query]!), prefix, ratios);
      use(query, prefix);
      stage.update(query + 1);
      await pause();
    }
    stage.finish(`${queries.cutoffs.length} queries`);
  }

  /** Adds the scores of one query to `scores`, whose length is the cutoff; `ratios` is scratch. */
  #score(words: ReadonlyMap<string, number>, scores: Float64Array, ratios: Float64Array): void {
    const cutoff = scores.length;
    const { lengths, lengthBefore } = this.#postings;
    const average = lengthBefore[cutoff]! / cutoff;
    for (let position = 0; position < cutoff; position++) ratios[position] = lengths[position]! / average;
    const { idf, saturate } = BM25_VARIANTS[this.#options.variant];
    for (const [word, count] of words) {
      const found = this.#postings.listPostingsBefore(word, cutoff);
      if (found === null) continue;
      const { positions, counts } = found;
      const weight = count * idf(cutoff, positions.length);
      for (let entry = 0; entry < positions.length; entry++) {
        const position = positions[entry]!;
        scores[position]! += weight * saturate(counts[entry]!, ratios[position]!, this.#options);
      }
    }
  }

  dispose(): void {}
}

/** An index over the texts of a corpus, in time order. */
export function createBm25(options: Bm25Options, { corpus: { turns } }: Pick<IndexContext, 'corpus'>): Bm25Index {
  return new Bm25Index(
    turns.map(({ id }) => id),
    turns.map(({ text }) => text),
    options,
  );
}
