import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { isListed } from '../candidates/query-batch.ts';
import { BM25_VARIANTS, type Bm25Parameters, type Bm25VariantName, type TermPostings } from './bm25.ts';

/** Documents made of turns: single ones, windows of neighbours, sessions. G documents over N turns. */
export interface TurnGroups {
  /** G. */
  readonly size: number;
  /** [N + 1] turn j is part of documents[offsets[j]] … documents[offsets[j + 1] - 1]. */
  readonly offsets: Int32Array;
  readonly documents: Int32Array;
  /** [G] the least cutoff at which the document is there. */
  readonly validFrom: Int32Array;
}

/** BM25 over groups of turns, such as sessions: k1, b and the variant. */
export interface GroupedBm25Options extends Bm25Parameters {
  readonly variant: Bm25VariantName;
}

interface Moment {
  readonly cutoff: number;
  readonly count: number;
  /** [G] length over the average of the moment. */
  readonly ratios: Float64Array;
}

/**
 * BM25 over documents that consist of turns, as of any moment: a document holds the turns before the cutoff, and its length, the average and what is rare are those
 * of the moment. A query costs the postings of its terms times the documents of a turn, and one pass over the turns where its cutoff is not the one before it.
 *
 * With a list of visible turns, only their words count as held by a document. Lengths and what is rare remain those of all turns before the cutoff.
 */
export class GroupedBm25 {
  readonly #postings: TermPostings;
  readonly #groups: TurnGroups;
  readonly #options: GroupedBm25Options;
  /** [G] scratch: how often the documents that were {@link #collect collected} hold a term; 0 for all others. */
  readonly #counts: Float64Array;
  /** [G] scratch: the same in the visible turns alone, where there is a list of them. */
  readonly #shown: Float64Array;
  /** [G] scratch: the documents themselves. */
  readonly #touched: Int32Array;
  #moment: Moment | null = null;

  /** @throws DimensionMismatchError where the groups are of another number of turns. */
  constructor(postings: TermPostings, groups: TurnGroups, options: GroupedBm25Options) {
    if (groups.offsets.length !== postings.size + 1)
      throw new DimensionMismatchError('turns of document groups', postings.size, groups.offsets.length - 1);
    this.#postings = postings;
    this.#groups = groups;
    this.#options = options;
    this.#counts = new Float64Array(groups.size);
    this.#shown = new Float64Array(groups.size);
    this.#touched = new Int32Array(groups.size);
  }

  get size(): number {
    return this.#groups.size;
  }

  #readMoment(cutoff: number): Moment {
    if (this.#moment?.cutoff === cutoff) return this.#moment;
    const { offsets, documents, validFrom, size } = this.#groups;
    const ratios = new Float64Array(size);
    let total = 0;
    for (let position = 0; position < cutoff; position++) {
      const length = this.#postings.lengths[position]!;
      for (let entry = offsets[position]!; entry < offsets[position + 1]!; entry++) {
        const document = documents[entry]!;
        if (validFrom[document]! > cutoff) continue;
        ratios[document]! += length;
        total += length;
      }
    }
    const count = validFrom.reduce((sum, from) => sum + (from <= cutoff ? 1 : 0), 0);
    const average = total / Math.max(1, count);
    for (let document = 0; document < size; document++) ratios[document]! /= average === 0 ? 1 : average;
    this.#moment = { cutoff, count, ratios };
    return this.#moment;
  }

  /** Collects the documents that hold a word before the cutoff. @returns how many */
  #collect(word: string, cutoff: number, visible: Int32Array | null): number {
    const found = this.#postings.listPostingsBefore(word, cutoff);
    if (found === null) return 0;
    const { offsets, documents, validFrom } = this.#groups;
    const [counts, shown, touched] = [this.#counts, this.#shown, this.#touched];
    let size = 0;
    for (let i = 0; i < found.positions.length; i++) {
      const position: number = found.positions[i]!;
      const count = found.counts[i]!;
      const isShown = visible !== null && isListed(visible, position);
      for (let entry: number = offsets[position]!; entry < offsets[position + 1]!; entry++) {
        const document = documents[entry]!;
        if (validFrom[document]! > cutoff) continue;
        if (counts[document] === 0) touched[size++] = document;
        counts[document]! += count;
        if (isShown) shown[document]! += count;
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
    const { count, ratios } = this.#readMoment(cutoff);
    const { idf, saturate } = BM25_VARIANTS[this.#options.variant];
    const touched = this.#touched;
    const counts = visible === null ? this.#counts : this.#shown;
    scores?.fill(0);
    coverage?.fill(0);
    let total = 0;
    for (const [word, times] of terms) {
      const size = this.#collect(word, cutoff, visible);
      if (size === 0) continue;
      const weight = idf(count, size);
      total += weight;
      for (let i = 0; i < size; i++) {
        const document = touched[i]!;
        const held = counts[document]!;
        this.#counts[document] = 0;
        this.#shown[document] = 0;
        if (held === 0) continue;
        if (scores !== null) scores[document]! += times * weight * saturate(held, ratios[document]!, this.#options);
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
