import { z } from 'zod';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { type SparseMatrix, transpose } from '../../core/linear/sparse-matrix.ts';
import { GrowingArray } from '../../core/numbers/growing-array.ts';
import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { freezeDeeply, getOrCompute } from '../../core/values/once.ts';
import type { Candidates, QueryBatch } from '../../model/candidates.ts';
import { createTokeniser, createTokenSchema, type Tokeniser, type TokenOptions } from '../../model/text/tokens.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import { createTieOrder, type TieOrder } from '../../model/turns/tie-rule.ts';
import {
  candidateCount,
  type GrowingIndex,
  type IndexContext,
  type IndexDefinition,
  type ScorePairs,
} from '../candidates/index-definition.ts';
import { allocateCandidates, assertPairs, assertQueries, listVisibleTurns } from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';
import type { PrunedSearch } from './bm25-pruned.ts';

/** k1 bounds how much a repeated term counts, b how much long turns are discounted. */
export interface Bm25Parameters {
  readonly k1: number;
  readonly b: number;
}

/** One way of writing BM25: a term's score is its weight times its saturated frequency. */
export interface Bm25Variant {
  /** The weight of a term that `frequency` of `count` turns hold. */
  idf(count: number, frequency: number): number;
  /** The saturated frequency of `tf` occurrences in a turn whose length is `ratio` times the average. */
  saturate(tf: number, ratio: number, parameters: Bm25Parameters): number;
}

const normaliseLength = (ratio: number, { b }: Bm25Parameters) => 1 - b + b * ratio;
const saturatePlainly = (tf: number, ratio: number, p: Bm25Parameters) => tf / (p.k1 * normaliseLength(ratio, p) + tf);
const saturateScaled = (tf: number, ratio: number, p: Bm25Parameters) => (p.k1 + 1) * saturatePlainly(tf, ratio, p);

/**
 * Added to the length-normalised frequency by bm25l, and to the saturated one by bm25+, so that no long turn is scored
 * as if it lacked the term.
 */
const DELTA_L = 0.5;
const DELTA_PLUS = 1;

/**
 * The variants that Kamphuis, de Vries, Boytsov, Lin 2020, "Which BM25 do you mean? A large-scale reproducibility study
 * of scoring variants", distinguish. In `robertson` the weight of a term that more than half of the turns hold would be
 * negative; it is 0 here, so that 0 is the least score of every variant.
 */
export const BM25_VARIANTS = freezeDeeply({
  robertson: {
    idf: (count, frequency) => Math.max(0, Math.log((count - frequency + 0.5) / (frequency + 0.5))),
    saturate: saturatePlainly,
  },
  lucene: {
    idf: (count, frequency) => Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5)),
    saturate: saturatePlainly,
  },
  atire: { idf: (count, frequency) => Math.log(count / frequency), saturate: saturateScaled },
  bm25l: {
    idf: (count, frequency) => Math.log((count + 1) / (frequency + 0.5)),
    saturate(tf, ratio, parameters) {
      const shifted = tf / normaliseLength(ratio, parameters) + DELTA_L;
      return ((parameters.k1 + 1) * shifted) / (parameters.k1 + shifted);
    },
  },
  'bm25+': {
    idf: (count, frequency) => Math.log((count + 1) / frequency),
    saturate: (tf, ratio, parameters) => saturateScaled(tf, ratio, parameters) + DELTA_PLUS,
  },
} as const satisfies Record<string, Bm25Variant>);

/** A published variant of BM25, which differ in the inverse document frequency and the saturation of counts. */
export type Bm25VariantName = keyof typeof BM25_VARIANTS;

/** The parameters k1 and b of BM25, its variant, and how texts become words. */
export interface Bm25Options extends Bm25Parameters, TokenOptions {
  readonly variant: Bm25VariantName;
}

/** BM25 as Lucene computes it: k1 1.2, b .75, every word as written. */
export const BM25_DEFAULTS: Bm25Options = freezeDeeply({
  k1: 1.2,
  b: 0.75,
  variant: 'lucene',
  dropStopWords: false,
  stem: false,
});

const options = z.strictObject({
  index: z.literal('bm25'),
  k: candidateCount,
  k1: z.number().min(0).default(BM25_DEFAULTS.k1),
  b: z.number().min(0).max(1).default(BM25_DEFAULTS.b),
  variant: z.enum(Object.keys(BM25_VARIANTS) as [Bm25VariantName, ...Bm25VariantName[]]).default(BM25_DEFAULTS.variant),
  ...createTokenSchema(BM25_DEFAULTS),
});
/** The index `bm25` of a config: {@link Bm25Options} and the number k of candidates. */
export type Bm25IndexOptions = z.output<typeof options>;

export const bm25: IndexDefinition<typeof options> = {
  options,
  reads: ['texts', 'times'],
  description: "the turns that share words with the query, with document frequencies of the query's moment",
};

/** The turns that hold a term, ascending, and how often it occurs in each. */
interface Postings {
  readonly positions: Int32Array;
  readonly counts: Float64Array;
}

interface GrowingPostings {
  readonly positions: GrowingArray<Int32Array>;
  readonly counts: GrowingArray<Float64Array>;
}

/** Turns that come after the first ones, and the sums that they change. */
interface LaterTurns {
  readonly lengths: GrowingArray<Float64Array>;
  readonly lengthBefore: GrowingArray<Float64Array>;
  /** The terms of each turn after the first ones. */
  readonly terms: number[][];
  /** The turns among them with a term. */
  readonly turnsOf: Map<number, GrowingPostings>;
}

const startPostings = (): GrowingPostings => ({
  positions: new GrowingArray(new Int32Array(0)),
  counts: new GrowingArray(new Float64Array(0)),
});

const countTurns = (parts: readonly Postings[]) => parts.reduce((sum, { positions }) => sum + positions.length, 0);

/**
 * Which turns hold which term how often, in time order, so that what held a term at a moment is a prefix of its
 * postings. N turns.
 */
export class TermPostings {
  #lengths: Float64Array;
  #lengthBefore: Float64Array;
  readonly #tokenise: Tokeniser;
  readonly #termOf: Map<string, number>;
  readonly #terms: string[];
  /** The number of times that each term occurs in each of the first turns, [turns, terms]. */
  readonly #counts: SparseMatrix;
  /** Row t holds the first turns with term t and how often it occurs in them. */
  readonly #turnsOf: SparseMatrix;
  #later: LaterTurns | null = null;

  /** @param texts [N] of the turns in time order. */
  constructor(texts: readonly string[], tokenise: Tokeniser) {
    this.#tokenise = tokenise;
    const { counts, termOf } = countTerms(texts, tokenise);
    this.#termOf = termOf;
    this.#terms = [...termOf.keys()];
    this.#counts = counts;
    this.#turnsOf = transpose(counts);
    this.#lengths = new Float64Array(texts.length);
    this.#lengthBefore = new Float64Array(texts.length + 1);
    for (let position = 0; position < texts.length; position++) {
      for (let entry = counts.offsets[position]!; entry < counts.offsets[position + 1]!; entry++)
        this.#lengths[position]! += counts.values[entry]!;
      this.#lengthBefore[position + 1] = this.#lengthBefore[position]! + this.#lengths[position]!;
    }
  }

  /** N. */
  get size(): number {
    return this.#lengths.length;
  }

  /** [N] terms of each turn, counted as often as they occur. */
  get lengths(): Float64Array {
    return this.#lengths;
  }

  /** [N + 1] terms of the turns before each position. */
  get lengthBefore(): Float64Array {
    return this.#lengthBefore;
  }

  /** Takes in turns after those that there are: O(1) for each of their words on average. */
  append(texts: readonly string[]): void {
    this.#later ??= {
      lengths: new GrowingArray(this.#lengths),
      lengthBefore: new GrowingArray(this.#lengthBefore),
      terms: [],
      turnsOf: new Map(),
    };
    const { turnsOf, lengths, lengthBefore, terms: later } = this.#later;
    for (const text of texts) {
      const position = lengths.length;
      const terms: number[] = [];
      let length = 0;
      for (const [word, count] of countWords(this.#tokenise(text))) {
        const term = getOrCompute(this.#termOf, word, () => this.#terms.push(word) - 1);
        const { positions, counts } = getOrCompute(turnsOf, term, startPostings);
        positions.push(position);
        counts.push(count);
        terms.push(term);
        length += count;
      }
      later.push(terms);
      lengthBefore.push(lengthBefore.numbers[position]! + length);
      lengths.push(length);
    }
    this.#lengths = lengths.numbers;
    this.#lengthBefore = lengthBefore.numbers;
  }

  /** The distinct terms of a text with how often they occur in it, in order. */
  countQueryTerms(text: string): ReadonlyMap<string, number> {
    return countWords(this.#tokenise(text));
  }

  /** The distinct terms of a turn, in order. */
  listTurnTerms(position: number): string[] {
    const { rows, offsets, columnOf } = this.#counts;
    if (position >= rows) return this.#later!.terms[position - rows]!.map((term) => this.#terms[term]!);
    const terms: string[] = [];
    for (let entry = offsets[position]!; entry < offsets[position + 1]!; entry++)
      terms.push(this.#terms[columnOf[entry]!]!);
    return terms;
  }

  /** The number of turns before a cutoff that hold a term. */
  countTurnsWith(word: string, cutoff: number): number {
    return countTurns(this.listPostingsBefore(word, cutoff));
  }

  /**
   * The turns before a cutoff that hold a term, ascending, and how often: of the first turns, then of those that came
   * later.
   */
  listPostingsBefore(word: string, cutoff: number): Postings[] {
    const term = this.#termOf.get(word);
    if (term === undefined) return [];
    const { rows, offsets, columnOf, values } = this.#turnsOf;
    const later = this.#later?.turnsOf.get(term);
    const [start, end] = term < rows ? [offsets[term]!, offsets[term + 1]!] : [0, 0];
    const parts = [{ positions: columnOf.subarray(start, end), counts: values.subarray(start, end) }];
    if (later !== undefined) parts.push({ positions: later.positions.numbers, counts: later.counts.numbers });
    const cut = ({ positions, counts }: Postings, count: number) => ({
      positions: positions.subarray(0, count),
      counts: counts.subarray(0, count),
    });
    return parts.map((part) => cut(part, findLowerBound(part.positions, cutoff)));
  }
}

/**
 * The number of times that each term occurs in each turn, and the number of each term: its rank among all by first use.
 */
function countTerms(
  texts: readonly string[],
  tokenise: Tokeniser,
): { readonly counts: SparseMatrix; readonly termOf: Map<string, number> } {
  const termOf = new Map<string, number>();
  const offsets = new Int32Array(texts.length + 1);
  const columnOf: number[] = [];
  const values: number[] = [];
  for (const [position, text] of texts.entries()) {
    for (const [word, count] of countWords(tokenise(text))) {
      const term = termOf.get(word) ?? termOf.size;
      if (term === termOf.size) termOf.set(word, term);
      columnOf.push(term);
      values.push(count);
    }
    offsets[position + 1] = values.length;
  }
  const counts = {
    rows: texts.length,
    columns: termOf.size,
    offsets,
    columnOf: Int32Array.from(columnOf),
    values: Float64Array.from(values),
  };
  return { counts, termOf };
}

function countWords(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Turns from which on it is worth the time to leave out those that cannot be among the best. */
const LARGE = 10_000;

/** Room for turns that come later, as a multiple of what was needed. */
const SPARE = 2;

/**
 * BM25 at each query's time: the number of turns, their average length and the frequency of each term are those of the turns before the cutoff. Postings are in
 * time order, so the earlier postings of a term are a prefix, found by binary search; no index is rebuilt. A term of the query counts as often as it
 * occurs in it. Candidates are the turns with a score above 0.
 *
 * A list of visible turns hides results and changes no score: the statistics are those of all turns before the cutoff.
 *
 * A query costs the postings of its terms up to the cutoff.
 */
export class Bm25Index implements GrowingIndex {
  readonly name = 'bm25';
  readonly #options: Bm25Options;
  readonly #postings: TermPostings;
  #compareTies: TieOrder;
  /** [N] and room for more; 0 between queries. */
  #scores = new Float64Array(0);
  #pruned: PrunedSearch | null = null;

  /**
   * @param ids [N] of the turns in time order.
   * @param texts [N]
   * @param compareTies of their ids.
   */
  constructor(
    ids: readonly string[],
    texts: readonly string[],
    options: Bm25Options = BM25_DEFAULTS,
    compareTies: TieOrder = createTieOrder(ids),
  ) {
    if (ids.length !== texts.length) throw new DimensionMismatchError('texts of bm25', ids.length, texts.length);
    this.#options = options;
    this.#compareTies = compareTies;
    this.#postings = new TermPostings(texts, createTokeniser(options));
  }

  async growWith({ corpus }: Pick<IndexContext, 'corpus'>): Promise<void> {
    this.#postings.append(corpus.turns.slice(this.#postings.size).map(({ text }) => text));
    this.#compareTies = corpus.compareTies;
  }

  async search(queries: QueryBatch, k: number, progress: StartProgress = ignoreProgress): Promise<Candidates> {
    assertQueries(queries, this.#postings.size, k);
    if (this.#postings.size >= LARGE) return this.#searchLarge(queries, k, progress);
    const candidates = allocateCandidates(queries.cutoffs.length, k);
    const top = new TopSelection(k, this.#compareTies);
    await this.#visitQueries(queries, k, progress, (query, scores, found) => {
      const offer = (position: number) => {
        if (scores[position]! > 0) top.offer(position, scores[position]!);
        scores[position] = 0; // a turn with two of the words is offered once
      };
      const visible = listVisibleTurns(queries, query);
      if (visible === null) for (const { positions } of found) positions.forEach(offer);
      else visible.forEach(offer);
      top.drainTo(candidates, query);
    });
    return candidates;
  }

  /** {@link search} without scoring every turn. */
  async #searchLarge(queries: QueryBatch, k: number, progress: StartProgress): Promise<Candidates> {
    const { PrunedSearch } = await import('./bm25-pruned.ts');
    const { idf, saturate } = BM25_VARIANTS[this.#options.variant];
    const scoring = { idf, saturate: (tf: number, ratio: number) => saturate(tf, ratio, this.#options) };
    this.#pruned ??= new PrunedSearch(this.#postings, scoring);
    return this.#pruned.search(queries, k, this.#compareTies, progress);
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

  /** Calls `use` with the scores of all turns before each query's cutoff, and with the turns that hold its words. */
  async #visitQueries(
    queries: QueryBatch,
    k: number,
    progress: StartProgress,
    use: (query: number, scores: Float64Array, found: readonly Postings[]) => void,
  ): Promise<void> {
    const { size } = this.#postings;
    assertQueries(queries, size, k);
    const stage = progress('bm25', queries.cutoffs.length);
    if (this.#scores.length < size) this.#scores = new Float64Array(Math.max(size, SPARE * this.#scores.length));
    const scores = this.#scores;
    const pause = createEventBreaks();
    for (const [query, cutoff] of queries.cutoffs.entries()) {
      const found = this.#score(queries.texts[query]!, cutoff, scores);
      use(query, scores, found);
      for (const { positions } of found) for (const position of positions) scores[position] = 0;
      stage.update(query + 1);
      await pause();
    }
    stage.finish(`${queries.cutoffs.length} queries`);
  }

  /** Adds the scores of the turns before a cutoff. @returns the turns that hold each word of the query. */
  #score(text: string, cutoff: number, scores: Float64Array): Postings[] {
    const { lengths, lengthBefore } = this.#postings;
    const average = lengthBefore[cutoff]! / cutoff;
    const { idf, saturate } = BM25_VARIANTS[this.#options.variant];
    const all: Postings[] = [];
    for (const [word, count] of this.#postings.countQueryTerms(text)) {
      const found = this.#postings.listPostingsBefore(word, cutoff);
      const weight = count * idf(cutoff, countTurns(found));
      for (const { positions, counts } of found) {
        for (let entry = 0; entry < positions.length; entry++) {
          const position = positions[entry]!;
          scores[position]! += weight * saturate(counts[entry]!, lengths[position]! / average, this.#options);
        }
      }
      all.push(...found);
    }
    return all;
  }

  dispose(): void {}
}

/** An index over the texts of a corpus, in time order. */
export function createBm25(options: Bm25Options, { corpus }: Pick<IndexContext, 'corpus'>): Bm25Index {
  const ids = corpus.turns.map(({ id }) => id);
  const texts = corpus.turns.map(({ text }) => text);
  return new Bm25Index(ids, texts, options, corpus.compareTies);
}
