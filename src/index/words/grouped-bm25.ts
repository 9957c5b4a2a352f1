import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { GrowingArray } from '../../core/numbers/growing-array.ts';
import { isListed } from '../candidates/query-batch.ts';
import { BM25_VARIANTS, type Bm25Parameters, type Bm25VariantName, type TermPostings } from './bm25.ts';

/** Documents made of turns: single ones, windows of neighbours, sessions. G documents over N turns. */
export interface TurnGroups {
  /** W, the most documents that a turn is part of. */
  readonly width: number;
  /** Row-major [N, W] the documents that each turn is part of, -1 after the last. */
  readonly documents: Int32Array;
  /** [G] the turn of each document that it begins with: the document is there at cutoffs after this turn. */
  readonly begins: Int32Array;
  /** The turns of a document that are earlier than the one that it begins with. */
  listTurnsBefore(document: number): readonly number[];
}

/** BM25 over groups of turns, such as sessions: k1, b and the variant. */
export interface GroupedBm25Options extends Bm25Parameters {
  readonly variant: Bm25VariantName;
}

/**
 * BM25 over documents that consist of turns, as of any moment: a document holds the turns before the cutoff, and its
 * length, the average and what is rare are those of the moment. A query costs the postings of its terms times the
 * documents of a turn, and a walk over the turns between its cutoff and the cutoff of the query before.
 *
 * Postings and groups may take in later turns, both the same; the lengths here follow them.
 *
 * With a list of visible turns, only their words count as held by a document. Lengths and what is rare remain those of
 * all turns before the cutoff.
 */
export class GroupedBm25 {
  readonly #postings: TermPostings;
  readonly #groups: TurnGroups;
  readonly #options: GroupedBm25Options;
  /** [G] scratch: how often the documents that were {@link #collect collected} hold a term; 0 for all others. */
  readonly #counts = new GrowingArray(new Float64Array(0));
  /** [G] scratch: the same in the visible turns alone, where there is a list of them. */
  readonly #shown = new GrowingArray(new Float64Array(0));
  /** [G] scratch: the documents themselves. */
  readonly #touched = new GrowingArray(new Int32Array(0));
  /** [G] lengths as of {@link #cutoff}, of the documents that are there. */
  readonly #lengths = new GrowingArray(new Float64Array(0));
  #cutoff = 0;
  /** Documents that are there, and the sum of their lengths. */
  #count = 0;
  #total = 0;

  /** @throws DimensionMismatchError where the groups are of another number of turns. */
  constructor(postings: TermPostings, groups: TurnGroups, options: GroupedBm25Options) {
    const turns = groups.documents.length / groups.width;
    if (turns !== postings.size) throw new DimensionMismatchError('turns of document groups', postings.size, turns);
    this.#postings = postings;
    this.#groups = groups;
    this.#options = options;
  }

  get size(): number {
    return this.#groups.begins.length;
  }

  /** Counts what is there at a cutoff, turn by turn from the cutoff before. Sums of whole numbers are exact. */
  #moveTo(cutoff: number): void {
    const missing = this.size - this.#lengths.length;
    for (const scratch of [this.#counts, this.#shown, this.#touched, this.#lengths]) scratch.extend(missing);
    while (this.#cutoff < cutoff) this.#countTurn(this.#cutoff++, 1);
    while (this.#cutoff > cutoff) this.#countTurn(--this.#cutoff, -1);
  }

  /** Counts the turn after all that are counted, or with a sign of -1 the last one no longer. */
  #countTurn(position: number, sign: 1 | -1): void {
    const { width, documents, begins } = this.#groups;
    const lengths = this.#lengths.numbers;
    const length = sign * this.#postings.lengths[position]!;
    for (let entry = position * width; entry < (position + 1) * width && documents[entry]! >= 0; entry++) {
      const document = documents[entry]!;
      if (begins[document]! > position) continue;
      if (begins[document]! === position) {
        lengths[document] = 0;
        for (const turn of this.#groups.listTurnsBefore(document)) lengths[document]! += this.#postings.lengths[turn]!;
        this.#total += sign * lengths[document]!;
        this.#count += sign;
      }
      lengths[document]! += length;
      this.#total += length;
    }
  }

  /** Collects the documents that hold a word before the cutoff. @returns how many */
  #collect(word: string, cutoff: number, visible: Int32Array | null): number {
    const found = this.#postings.listPostingsBefore(word, cutoff);
    const { width, documents, begins } = this.#groups;
    const [counts, shown, touched] = [this.#counts.numbers, this.#shown.numbers, this.#touched.numbers];
    let size = 0;
    for (const part of found) {
      for (let i = 0; i < part.positions.length; i++) {
        const position: number = part.positions[i]!;
        const count = part.counts[i]!;
        const isShown = visible !== null && isListed(visible, position);
        for (let entry = position * width; entry < (position + 1) * width && documents[entry]! >= 0; entry++) {
          const document = documents[entry]!;
          if (begins[document]! >= cutoff) continue;
          if (counts[document] === 0) touched[size++] = document;
          counts[document]! += count;
          if (isShown) shown[document]! += count;
        }
      }
    }
    return size;
  }

  /** One walk over the postings of a query's terms for whichever of the two is asked for. */
  #rateGroups(
    terms: ReadonlyMap<string, number>,
    cutoff: number,
    scores: Float64Array | null,
    coverage: Float64Array | null,
    visible: Int32Array | null,
  ) {
    this.#moveTo(cutoff);
    const average = this.#total / Math.max(1, this.#count) || 1;
    const { idf, saturate } = BM25_VARIANTS[this.#options.variant];
    const [counts, shown, touched] = [this.#counts.numbers, this.#shown.numbers, this.#touched.numbers];
    const lengths = this.#lengths.numbers;
    scores?.fill(0);
    coverage?.fill(0);
    let total = 0;
    for (const [word, times] of terms) {
      const size = this.#collect(word, cutoff, visible);
      if (size === 0) continue;
      const weight = idf(this.#count, size);
      total += weight;
      for (let i = 0; i < size; i++) {
        const document = touched[i]!;
        const held = visible === null ? counts[document]! : shown[document]!;
        counts[document] = 0;
        shown[document] = 0;
        if (held === 0) continue;
        const ratio = lengths[document]! / average;
        if (scores !== null) scores[document]! += times * weight * saturate(held, ratio, this.#options);
        if (coverage !== null) coverage[document]! += weight;
      }
    }
    if (coverage !== null && total > 0) for (let i = 0; i < coverage.length; i++) coverage[i]! /= total;
  }

  /**
   * Sets `scores` [G] to BM25 of a query whose terms count as often as is said; 0 where a document holds none of them or is not there yet.
   *
   * @param visible positions of the turns that the query may see, ascending; null: all.
   */
  score(
    terms: ReadonlyMap<string, number>,
    cutoff: number,
    scores: Float64Array,
    visible: Int32Array | null = null,
  ): void {
    this.#rateGroups(terms, cutoff, scores, null, visible);
  }

  /** Sets `coverage` [G] to the share of a query's known words that a document holds, each word weighing what it is worth among the documents, in [0, 1]. */
  fillCoverage(
    terms: ReadonlyMap<string, number>,
    cutoff: number,
    coverage: Float64Array,
    visible: Int32Array | null = null,
  ): void {
    this.#rateGroups(terms, cutoff, null, coverage, visible);
  }

  /** Sets both, for little more than one of them costs. */
  scoreAndCoverage(
    terms: ReadonlyMap<string, number>,
    cutoff: number,
    scores: Float64Array,
    coverage: Float64Array,
    visible: Int32Array | null = null,
  ): void {
    this.#rateGroups(terms, cutoff, scores, coverage, visible);
  }
}
