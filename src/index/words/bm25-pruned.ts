import { createEventBreaks, type StartProgress } from '../../core/terminal/progress.ts';
import type { Candidates, QueryBatch } from '../../model/candidates.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { TieOrder } from '../../model/turns/tie-rule.ts';
import { allocateCandidates, listVisibleTurns } from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';
import { FrequentBounds, MOST_FREQUENT } from './frequent-bounds.ts';
import { BLOCK, type Saturate, type WordList, WordLists, type WordPostings } from './word-lists.ts';

/** A variant of BM25 with its parameters. */
export interface Bm25Scoring {
  /** The weight of a word that `frequency` of `count` turns hold. */
  idf(count: number, frequency: number): number;
  readonly saturate: Saturate;
}

/** A word of a query. */
interface QueryTerm {
  readonly word: string;
  readonly list: WordList;
  /** The turns before the cutoff among its turns. */
  readonly frequency: number;
  readonly weight: number;
  /** The most that the word can add to a score. */
  readonly most: number;
}

/** A query, while it is answered. */
interface Asked {
  readonly cutoff: number;
  /** In the order of the query, in which a full search adds them up. */
  readonly terms: readonly QueryTerm[];
  /** Words in the falling order of the most that each can add: those that turns are found by, then frequent ones. */
  readonly falling: readonly QueryTerm[];
  /** The number of the first frequent word. */
  readonly frequent: number;
  /** The most that each of `falling` and those after it can add, and 0. */
  readonly rests: Float64Array;
  /** Place of the marks of the turns that it may see; null: all before the cutoff. */
  readonly marks: number | null;
  readonly k: number;
  readonly top: TopSelection;
}

/** The share by which a threshold is lowered: more than sums and scores, which are ranked in float32, are rounded. */
const SLACK = 1e-6;
/** The smallest score that float32 holds with all its digits. */
const LEAST_SCORE = 2 ** -126;
/** The sum of a turn that is found and holds no word so far: sums from {@link LEAST_SUM} on lose it. */
const NO_WORD = 2 ** -1022;
const LEAST_SUM = 1e-270;
/** Four times the largest relative error of an addition in float64. */
const ROUNDING = 2 ** -51;
const NOTHING = new Int32Array(0);
const BINS = 512;
/** Looking a turn up costs about as much as this many entries of a list. */
const LOOK_UP = 8;
/** To bound all turns costs about as much as to look this share of them up. */
const BOUNDED = 1 / 256;

/** The score that a turn has to reach, lowered by the slack; 0 while fewer than k are found. */
function readThreshold({ least }: TopSelection): number {
  return least < LEAST_SCORE ? 0 : least * (1 - SLACK);
}

/**
 * The best turns of BM25 without scoring all that share a word with the query (MaxScore, turtle1995strategies). What
 * frequent words can add to each turn is bounded, all turns at once. The other words are read from the one on that can
 * add most, and find turns. The best turns so far are completed, which gives a threshold; turns that cannot reach the
 * threshold are not kept. Last, turns that hold frequent words alone are found by their bounds.
 *
 * Sums are in float64 and another order than that of a full search, whose scores are float32. Where the order could
 * change the bits of a score, or a share was rounded, the turn is scored again in the order of the query.
 *
 * A query costs at most the postings of its other words, and a walk over one byte a turn for each frequent one; the
 * first query with a word copies its postings.
 */
export class PrunedSearch {
  readonly #postings: WordPostings;
  readonly #scoring: Bm25Scoring;
  readonly #lists: WordLists;
  /** Turns that there is room for. */
  #room = 0;
  /** Places of float64 [N] sums, int32 [N + 1] turns that are found and that lead, and uint8 [N] marks. */
  #sums = 0;
  #found = 0;
  #leaders = 0;
  #marks = 0;
  readonly #bins: number;
  readonly #bounds: FrequentBounds;
  /** The list whose turns are marked. */
  #marked: Int32Array | null = null;

  constructor(postings: WordPostings, scoring: Bm25Scoring) {
    this.#postings = postings;
    this.#scoring = scoring;
    this.#lists = new WordLists(postings, scoring.saturate);
    this.#bins = this.#lists.memory.allocate(4 * BINS);
    this.#bounds = new FrequentBounds(this.#lists);
  }

  /** The k best turns of each query, bit for bit those of a full search. */
  async search(queries: QueryBatch, k: number, compareTies: TieOrder, progress: StartProgress): Promise<Candidates> {
    const count = queries.cutoffs.length;
    const candidates = allocateCandidates(count, k);
    const top = new TopSelection(k, compareTies);
    const stage = progress('bm25', count);
    const pause = createEventBreaks();
    try {
      for (let query = 0; query < count; query++) {
        this.offerBest(queries, query, k, top);
        top.drainTo(candidates, query);
        stage.update(query + 1);
        await pause();
      }
    } finally {
      this.#mark(NOTHING); // a list may have changed when it is given again
    }
    stage.finish(`${count} queries`);
    return candidates;
  }

  /** Offers the k best turns of a query, and maybe others. */
  offerBest(
    queries: Pick<QueryBatch, 'texts' | 'cutoffs' | 'visible'>,
    query: number,
    k: number,
    top: TopSelection,
  ): void {
    this.#makeRoom();
    const cutoff = queries.cutoffs[query]!;
    const terms = this.#listTerms(queries.texts[query]!, cutoff);
    const byMost = [...terms].sort((a, b) => b.most - a.most);
    const bounded = byMost.filter(({ list }) => list.dense > 0).slice(0, MOST_FREQUENT);
    const falling = [...byMost.filter((term) => !bounded.includes(term)), ...bounded];
    const rests = new Float64Array(falling.length + 1);
    for (let i = falling.length - 1; i >= 0; i--) rests[i] = rests[i + 1]! + falling[i]!.most;
    const asked = { cutoff, terms, falling, frequent: falling.length - bounded.length, rests, marks: null, k, top };
    const visible = listVisibleTurns(queries, query);
    if (visible === null) this.#offerOfAll(asked);
    else if (LOOK_UP * visible.length * terms.length < terms.reduce((sum, { frequency }) => sum + frequency, 0))
      this.#offerOf(visible, asked);
    else this.#offerOfAll({ ...asked, marks: this.#mark(queries.visible![query]!) });
  }

  /** The words of a query that change a score, in its order. */
  #listTerms(text: string, cutoff: number): QueryTerm[] {
    const terms: QueryTerm[] = [];
    const known: { readonly word: string; readonly count: number; readonly list: WordList }[] = [];
    for (const [word, count] of this.#postings.countQueryTerms(text)) {
      const list = this.#lists.find(word);
      if (list !== null) known.push({ word, count, list });
    }
    this.#lists.fillShares(this.#postings.lengthBefore[cutoff]! / cutoff);
    for (const { word, count, list } of known) {
      const frequency = this.#lists.countBefore(list, cutoff);
      const weight = frequency === 0 ? 0 : count * this.#scoring.idf(cutoff, frequency);
      if (weight > 0) terms.push({ word, list, frequency, weight, most: weight * this.#lists.findMost(list) });
    }
    return terms;
  }

  /** Finds turns word by word while a new one can be among the best, then those that hold frequent words alone. */
  #offerOfAll(asked: Asked): void {
    const { falling, frequent, rests, k, top, marks, cutoff } = asked;
    const { kernel } = this.#lists.memory;
    const bounds = this.#bounds;
    if (frequent < falling.length) bounds.fill(falling.slice(frequent), cutoff, marks);
    let [count, next, isLed] = [0, 0, false];
    for (; next < frequent; next++) {
      const { list, frequency, weight } = falling[next]!;
      if (!isLed && count >= k && frequency > count) {
        if (marks !== null) count = kernel.keepMarked(marks, this.#sums, this.#found, count);
        this.#lead(asked, next, count);
        isLed = true;
      }
      const threshold = readThreshold(top);
      if (rests[next]! < threshold) break;
      count = kernel.accumulate(
        ...([list.positions, list.pairs, frequency, weight, this.#lists.shares, bounds.place, bounds.unit] as const),
        ...([threshold - rests[next + 1]! + rests[frequent]!, this.#sums, this.#found, count] as const),
      );
    }
    if (marks !== null) count = kernel.keepMarked(marks, this.#sums, this.#found, count);
    if (isLed) count = this.#keep(readThreshold(top) - rests[next]! + rests[frequent]!, count);
    this.#lead(asked, next, count);
    this.#finish(asked, next, count);
  }

  /** Keeps the turns that are found and whose sum and bound reach a number. @returns how many */
  #keep(least: number, count: number): number {
    const { place, unit } = this.#bounds;
    return this.#lists.memory.kernel.keepFrom(this.#sums, this.#found, count, place, unit, least);
  }

  /** Finds turns that hold frequent words alone, after those that are found. @returns how many are found then */
  #findBounded({ falling, frequent, k, ...asked }: Asked, found: number): number {
    const { int32, float64, uint8 } = this.#lists.memory;
    const bounds = this.#bounds;
    let [least, most] = [bounds.findLeast(readThreshold(asked.top)), 256];
    if (bounds.count(least) > 2 * k + asked.cutoff * BOUNDED) {
      while (most - least > 1) {
        const middle = (least + most) >> 1;
        if (bounds.count(middle) < k) most = middle;
        else least = middle;
      }
      const leading = bounds.list(least, this.#leaders);
      for (const term of falling.slice(frequent)) this.#add(term, this.#leaders, leading);
      for (let i = 0; i < leading; i++) {
        const position = int32[(this.#leaders >> 2) + i]!;
        this.#offer(asked, position, float64[(this.#sums >> 3) + position]!);
        float64[(this.#sums >> 3) + position] = 0;
        uint8[bounds.place + position] = 0;
      }
      least = bounds.findLeast(readThreshold(asked.top));
    }
    return found + bounds.list(least, this.#found + 4 * found);
  }

  /** Looks up the words of turns that are given. */
  #offerOf(visible: Int32Array, asked: Asked): void {
    const { kernel, int32, float64 } = this.#lists.memory;
    const { falling, top } = asked;
    let [count, next] = [visible.length, 0];
    int32.set(visible, this.#found >> 2);
    for (const position of visible) float64[(this.#sums >> 3) + position] = NO_WORD;
    while (next < falling.length && readThreshold(top) === 0) {
      this.#add(falling[next++]!, this.#found, count);
      this.#lead(asked, next, count);
      count = kernel.keepFrom(this.#sums, this.#found, count, this.#bounds.place, 0, NO_WORD);
    }
    this.#finish(asked, next, count);
  }

  /** Offers the turns that are found and can be among the best, with the words from `next` on, and clears their sums. */
  #finish(asked: Asked, next: number, found: number): void {
    const { falling, frequent, rests, top } = asked;
    const { int32, float64, uint8 } = this.#lists.memory;
    const bounds = this.#bounds;
    let count = found;
    if (bounds.unit > 0) {
      count = this.#keep(readThreshold(top) - rests[next]! + rests[frequent]!, count);
      for (let i = 0; i < count; i++) uint8[bounds.place + int32[(this.#found >> 2) + i]!] = 0;
      if (rests[next]! >= readThreshold(top)) count = this.#findBounded(asked, count);
      bounds.clear();
    }
    for (let i = next; i < falling.length; i++) {
      count = this.#keep(readThreshold(top) - rests[i]!, count);
      this.#add(falling[i]!, this.#found, count);
    }
    count = this.#keep(readThreshold(top), count);
    for (let i = 0; i < count; i++) {
      const position = int32[(this.#found >> 2) + i]!;
      this.#offer(asked, position, float64[(this.#sums >> 3) + position]!);
      float64[(this.#sums >> 3) + position] = 0;
    }
  }

  /** Adds the shares of a word for turns that are found. */
  #add({ list, frequency, weight }: QueryTerm, found: number, count: number): void {
    const { kernel } = this.#lists.memory;
    const { shares } = this.#lists;
    if (list.dense > 0) kernel.addDense(list.dense, weight, shares, this.#sums, found, count);
    else kernel.addSearched(list.positions, list.pairs, frequency, weight, shares, this.#sums, found, count);
  }

  /** Completes and offers the k best turns so far, or some more, which then count as found but never as good. */
  #lead({ falling, frequent, rests, k, ...asked }: Asked, next: number, count: number): void {
    const { kernel, int32, float64, uint8 } = this.#lists.memory;
    const { place, unit } = this.#bounds;
    const scale = BINS / (rests[0]! - rests[next]! + (unit > 0 ? rests[frequent]! : 0));
    const bins = int32.subarray(this.#bins >> 2, (this.#bins >> 2) + BINS).fill(0);
    kernel.countSums(this.#sums, this.#found, count, place, unit, scale, this.#bins, BINS - 1);
    let [bin, reached] = [BINS, 0];
    while (bin > 1 && reached < k) reached += bins[--bin]!;
    const leading = kernel.listFrom(this.#sums, this.#found, count, place, unit, bin / scale, this.#leaders);
    for (let i = next; i < falling.length; i++) this.#add(falling[i]!, this.#leaders, leading);
    for (let i = 0; i < leading; i++) {
      const position = int32[(this.#leaders >> 2) + i]!;
      this.#offer(asked, position, float64[(this.#sums >> 3) + position]!);
      float64[(this.#sums >> 3) + position] = Number.NEGATIVE_INFINITY;
      uint8[place + position] = 0;
    }
  }

  /** Offers a turn with a score that has the bits of a full search. */
  #offer({ terms, cutoff, top }: Pick<Asked, 'terms' | 'cutoff' | 'top'>, position: number, sum: number): void {
    if (sum === NO_WORD) return;
    const margin = sum * terms.length * ROUNDING;
    const isSure = this.#lists.isExact && sum > LEAST_SUM && Math.fround(sum - margin) === Math.fround(sum + margin);
    const score = isSure ? sum : this.#score(terms, cutoff, position);
    if (score > 0) top.offer(position, score);
  }

  /** The score of a turn, as a full search adds it up. */
  #score(terms: readonly QueryTerm[], cutoff: number, position: number): number {
    const { lengths, lengthBefore } = this.#postings;
    const ratio = lengths[position]! / (lengthBefore[cutoff]! / cutoff);
    let score = 0;
    for (const { word, weight } of terms) {
      for (const { positions, counts } of this.#postings.listPostingsBefore(word, cutoff)) {
        const entry = findLowerBound(positions, position);
        if (positions[entry] === position) score += weight * this.#scoring.saturate(counts[entry]!, ratio);
      }
    }
    return score;
  }

  /** Marks the turns of a list, and those of the list before no longer. */
  #mark(visible: Int32Array): number {
    if (visible === this.#marked) return this.#marks;
    const { uint8 } = this.#lists.memory;
    for (const position of this.#marked ?? []) uint8[this.#marks + position] = 0;
    for (const position of visible) uint8[this.#marks + position] = 1;
    this.#marked = visible;
    return this.#marks;
  }

  /** Room for all turns, and for as many more where there was too little. */
  #makeRoom(): void {
    const { size } = this.#postings;
    if (size <= this.#room) return;
    this.#room = this.#room === 0 ? size : 2 * size;
    const { memory } = this.#lists;
    [this.#sums, this.#marks] = [memory.allocate(8 * this.#room), memory.allocate(this.#room + BLOCK)];
    [this.#found, this.#leaders] = [memory.allocate(4 * this.#room + 4), memory.allocate(4 * this.#room + 4)];
    this.#bounds.makeRoom(this.#room);
    this.#marked = null;
  }
}
