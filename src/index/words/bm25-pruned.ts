import { createEventBreaks, type StartProgress } from '../../core/terminal/progress.ts';
import type { Candidates, QueryBatch } from '../../model/candidates.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { TieOrder } from '../../model/turns/tie-rule.ts';
import { allocateCandidates } from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';

/** The turns that hold each word, in time order. */
interface WordPostings {
  /** N. */
  readonly size: number;
  /** [N] words of each turn. */
  readonly lengths: Float64Array;
  /** [N + 1] words of the turns before each position. */
  readonly lengthBefore: Float64Array;
  countQueryTerms(text: string): ReadonlyMap<string, number>;
  listPostingsBefore(
    word: string,
    cutoff: number,
  ): readonly { readonly positions: Int32Array; readonly counts: Float64Array }[];
}

/** A variant of BM25 with its parameters. */
export interface Bm25Scoring {
  /** The weight of a word that `frequency` of `count` turns hold. */
  idf(count: number, frequency: number): number;
  /** The saturated frequency: rises with `tf`, and never with `ratio`, the length beside the average. */
  saturate(tf: number, ratio: number): number;
}

/** The turns that hold a word, ascending, how often, and an upper bound of each saturated frequency. */
interface BoundedPostings {
  readonly positions: Int32Array;
  readonly counts: Float64Array;
  readonly bounds: Float64Array;
  /** The largest bound. */
  readonly most: number;
}

/** A word of a query. */
interface QueryTerm extends BoundedPostings {
  /** The turns before the cutoff among its turns. */
  readonly frequency: number;
  readonly weight: number;
}

/** The share by which a threshold is lowered: more than sums and scores, which are ranked in float32, are rounded. */
const SLACK = 1e-6;

/** The smallest score that float32 holds with all its digits. */
const LEAST_SCORE = 2 ** -126;

/** Averages of fewer turns vary: their maximum would be too far above the others. */
const LEAST_CUTOFF = 1000;

/** Looking a turn up in a list costs about as much as this many entries of the list. */
const LOOK_UP = 12;

/** The place of a position in a list that begins with `count` ascending ones; -1 if it is not among them. */
function findPlace(positions: Int32Array, count: number, position: number): number {
  const place = findLowerBound(positions, position, 0, count);
  return place < count && positions[place] === position ? place : -1;
}

/** The k-th largest of the numbers at some places; 0 if there are fewer. O(count log k). @param heap room for k */
function findLargest(heap: Float64Array, numbers: Float64Array, places: Int32Array, count: number): number {
  if (count < heap.length) return 0;
  heap.fill(0); // the smallest of the largest at its root
  for (let i = 0; i < count; i++) {
    const value = numbers[places[i]!]!;
    if (!(value > heap[0]!)) continue;
    let at = 0;
    for (let child = 1; child < heap.length; child = 2 * at + 1) {
      if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
      if (heap[child]! >= value) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = value;
  }
  return heap[0]!;
}

/**
 * The best turns of BM25 without scoring all that share a word with the query (MaxScore, turtle1995strategies): words
 * are read from the rarest on, and a word whose share of the score cannot bring a new turn among the best k is looked
 * up for the turns that are left alone. What is left is scored exactly, word after word in the order of the query, so
 * that scores and ranking have the bits of a full search.
 *
 * Shares are bounded by those at the largest average length of all cutoffs from {@link LEAST_CUTOFF} on: a smaller
 * average makes each share smaller, by at most the ratio of both averages.
 *
 * A query costs at most the postings of its words and log k for each turn that is found; bounding a word costs its
 * postings once, and the search N once.
 */
export class PrunedSearch {
  readonly #postings: WordPostings;
  readonly #scoring: Bm25Scoring;
  readonly #words = new Map<string, BoundedPostings | null>();
  readonly #largestAverage: number;
  /** [N] bounds of the scores of a query's turns so far; 0 between queries. */
  readonly #bounds: Float64Array;
  /** The turns with a bound. */
  readonly #found: Int32Array;
  #heap = new Float64Array(0);

  constructor(postings: WordPostings, scoring: Bm25Scoring) {
    this.#postings = postings;
    this.#scoring = scoring;
    const { size, lengthBefore } = postings;
    let largest = 0;
    for (let cutoff = LEAST_CUTOFF; cutoff <= size; cutoff++)
      largest = Math.max(largest, lengthBefore[cutoff]! / cutoff);
    this.#largestAverage = largest;
    this.#bounds = new Float64Array(size);
    this.#found = new Int32Array(size);
  }

  /**
   * Offers the k best turns of a query, and maybe others.
   *
   * @returns false, without an offer, for a cutoff at which only a full search can find them.
   */
  offerBest({ texts, cutoffs }: Pick<QueryBatch, 'texts' | 'cutoffs'>, query: number, k: number, top: TopSelection) {
    const cutoff = cutoffs[query]!;
    if (cutoff < LEAST_CUTOFF) return false;
    if (this.#heap.length !== k) this.#heap = new Float64Array(k);
    const average = this.#postings.lengthBefore[cutoff]! / cutoff;
    const share = Math.min(1, average / this.#largestAverage) * (1 - SLACK);
    const terms = this.#listTerms(texts[query]!, cutoff);
    const left = this.#prune(terms, share);
    const floor = this.#findThreshold(left, share);
    for (let i = 0; i < left; i++) {
      const position = this.#found[i]!;
      if (this.#bounds[position]! >= floor) top.offer(position, this.#score(terms, position, average));
      this.#bounds[position] = 0;
    }
    return true;
  }

  /** A score that the k best turns that are found reach; 0 if there are fewer, or if float32 tells none apart. */
  #findThreshold(count: number, share: number): number {
    const score = findLargest(this.#heap, this.#bounds, this.#found, count) * share;
    return score < LEAST_SCORE ? 0 : score;
  }

  /** The words of a query that change a score, in its order. */
  #listTerms(text: string, cutoff: number): QueryTerm[] {
    const terms: QueryTerm[] = [];
    for (const [word, count] of this.#postings.countQueryTerms(text)) {
      const bounded = this.#bound(word);
      if (bounded === null) continue;
      const frequency = findLowerBound(bounded.positions, cutoff);
      const weight = frequency === 0 ? 0 : count * this.#scoring.idf(cutoff, frequency);
      if (weight > 0) terms.push({ ...bounded, frequency, weight });
    }
    return terms;
  }

  #bound(word: string): BoundedPostings | null {
    const known = this.#words.get(word);
    if (known !== undefined) return known;
    const parts = this.#postings.listPostingsBefore(word, this.#postings.size);
    const length = parts.reduce((sum, { positions }) => sum + positions.length, 0);
    const [positions, counts] = [new Int32Array(length), new Float64Array(length)];
    let at = 0;
    for (const part of parts) {
      positions.set(part.positions, at);
      counts.set(part.counts, at);
      at += part.positions.length;
    }
    const bounded = length === 0 ? null : { positions, counts, ...this.#boundShares(positions, counts) };
    this.#words.set(word, bounded);
    return bounded;
  }

  #boundShares(positions: Int32Array, counts: Float64Array) {
    const { lengths } = this.#postings;
    const bounds = new Float64Array(positions.length);
    let most = 0;
    for (let entry = 0; entry < bounds.length; entry++) {
      const ratio = lengths[positions[entry]!]! / this.#largestAverage;
      bounds[entry] = this.#scoring.saturate(counts[entry]!, ratio);
      most = Math.max(most, bounds[entry]!);
    }
    return { bounds, most };
  }

  /** Bounds the scores of the turns that can be among the best. @returns how many of them are found. */
  #prune(terms: readonly QueryTerm[], share: number): number {
    const rising = [...terms].sort((a, b) => a.frequency - b.frequency);
    const rests = new Float64Array(rising.length + 1); // what each word and those after it can add at most
    for (let i = rising.length - 1; i >= 0; i--) rests[i] = rests[i + 1]! + rising[i]!.weight * rising[i]!.most;
    let [count, threshold, next] = [0, 0, 0];
    for (; next < rising.length; next++) {
      // worth a look only where the rest of the words is long
      if (rising[next]!.frequency > count) threshold = this.#findThreshold(count, share);
      if (rests[next]! < threshold) break;
      count = this.#readTerm(rising[next]!, count);
    }
    for (; next < rising.length; next++) {
      count = this.#dropBelow(threshold - rests[next]!, count);
      this.#lookUp(rising[next]!, count);
      if (next + 1 < rising.length) threshold = Math.max(threshold, this.#findThreshold(count, share));
    }
    return count;
  }

  /** Adds the shares of all turns of a word. @returns how many turns are found then. */
  #readTerm({ positions, bounds, frequency, weight }: QueryTerm, before: number): number {
    let count = before;
    for (let entry = 0; entry < frequency; entry++) {
      const position = positions[entry]!;
      if (this.#bounds[position] === 0) this.#found[count++] = position;
      this.#bounds[position]! += weight * bounds[entry]!;
    }
    return count;
  }

  /** Forgets turns that no other word can bring among the best. */
  #dropBelow(least: number, count: number): number {
    let kept = 0;
    for (let i = 0; i < count; i++) {
      const position = this.#found[i]!;
      if (this.#bounds[position]! >= least) this.#found[kept++] = position;
      else this.#bounds[position] = 0;
    }
    return kept;
  }

  /** Adds the shares of a word for the turns that are found. */
  #lookUp({ positions, bounds, frequency, weight }: QueryTerm, count: number): void {
    if (LOOK_UP * count < frequency) {
      for (let i = 0; i < count; i++) {
        const position = this.#found[i]!;
        const place = findPlace(positions, frequency, position);
        if (place >= 0) this.#bounds[position]! += weight * bounds[place]!;
      }
      return;
    }
    for (let entry = 0; entry < frequency; entry++) {
      const position = positions[entry]!;
      if (this.#bounds[position] !== 0) this.#bounds[position]! += weight * bounds[entry]!;
    }
  }

  /** The score of a turn, as a full search adds it up. */
  #score(terms: readonly QueryTerm[], position: number, average: number): number {
    const ratio = this.#postings.lengths[position]! / average;
    let score = 0;
    for (const { positions, counts, frequency, weight } of terms) {
      const place = findPlace(positions, frequency, position);
      if (place >= 0) score += weight * this.#scoring.saturate(counts[place]!, ratio);
    }
    return score;
  }
}

/** An index of BM25. */
interface SearchedIndex {
  readonly postings: WordPostings;
  readonly scoring: Bm25Scoring;
  readonly compareTies: TieOrder;
  /** One query by a full search. */
  searchAlone(query: number): Promise<Candidates>;
}

/** The k best turns of each query, bit for bit those of a full search. */
export async function searchPruned(
  { postings, scoring, compareTies, searchAlone }: SearchedIndex,
  queries: QueryBatch,
  k: number,
  progress: StartProgress,
): Promise<Candidates> {
  const count = queries.cutoffs.length;
  const candidates = allocateCandidates(count, k);
  const top = new TopSelection(k, compareTies);
  const pruned = new PrunedSearch(postings, scoring);
  const stage = progress('bm25', count);
  const pause = createEventBreaks();
  for (let query = 0; query < count; query++) {
    if (pruned.offerBest(queries, query, k, top)) top.drainTo(candidates, query);
    else {
      const { positions, scores } = await searchAlone(query);
      candidates.positions.set(positions, query * k);
      candidates.scores.set(scores, query * k);
    }
    stage.update(query + 1);
    await pause();
  }
  stage.finish(`${count} queries`);
  return candidates;
}
