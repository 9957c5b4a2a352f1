import { type SparseMatrix, transpose } from '../../core/linear/sparse-matrix.ts';
import type { Tokeniser } from '../../model/text/tokens.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';

/** Which turns hold which term how often, in time order, so that what held a term at a moment is a prefix of its postings. N turns. */
export class TermPostings {
  /** [N] terms of each turn, counted as often as they occur. */
  readonly lengths: Float64Array;
  /** [N + 1] terms of the turns before each position. */
  readonly lengthBefore: Float64Array;
  readonly #tokenise: Tokeniser;
  readonly #termOf: ReadonlyMap<string, number>;
  readonly #terms: readonly string[];
  /** How often each term occurs in each turn, [N, terms]. */
  readonly #counts: SparseMatrix;
  /** Row t holds the turns with term t and how often it occurs in them. */
  readonly #turnsOf: SparseMatrix;

  /** @param texts [N] of the turns in time order. */
  constructor(texts: readonly string[], tokenise: Tokeniser) {
    this.#tokenise = tokenise;
    const { counts, termOf } = countTerms(texts, tokenise);
    this.#termOf = termOf;
    this.#terms = [...termOf.keys()];
    this.#counts = counts;
    this.#turnsOf = transpose(counts);
    this.lengths = new Float64Array(texts.length);
    this.lengthBefore = new Float64Array(texts.length + 1);
    for (let position = 0; position < texts.length; position++) {
      for (let entry = counts.offsets[position]!; entry < counts.offsets[position + 1]!; entry++)
        this.lengths[position]! += counts.values[entry]!;
      this.lengthBefore[position + 1] = this.lengthBefore[position]! + this.lengths[position]!;
    }
  }

  get size(): number {
    return this.lengths.length;
  }

  /** The distinct terms of a text with how often they occur in it, in order. */
  countQueryTerms(text: string): ReadonlyMap<string, number> {
    return countWords(this.#tokenise(text));
  }

  /** The distinct terms of a turn, in order. */
  listTurnTerms(position: number): string[] {
    const { offsets, columnOf } = this.#counts;
    const terms: string[] = [];
    for (let entry = offsets[position]!; entry < offsets[position + 1]!; entry++)
      terms.push(this.#terms[columnOf[entry]!]!);
    return terms;
  }

  /** How many turns before a cutoff hold a term. */
  countTurnsWith(word: string, cutoff: number): number {
    const term = this.#termOf.get(word);
    if (term === undefined) return 0;
    const { offsets, columnOf } = this.#turnsOf;
    const start = offsets[term]!;
    return findLowerBound(columnOf, cutoff, start, offsets[term + 1]!) - start;
  }

  /** The turns before a cutoff that hold a term, ascending, and how often; null where there is none. */
  listPostingsBefore(
    word: string,
    cutoff: number,
  ): { readonly positions: Int32Array; readonly counts: Float64Array } | null {
    const frequency = this.countTurnsWith(word, cutoff);
    if (frequency === 0) return null;
    const { offsets, columnOf, values } = this.#turnsOf;
    const start = offsets[this.#termOf.get(word)!]!;
    return {
      positions: columnOf.subarray(start, start + frequency),
      counts: values.subarray(start, start + frequency),
    };
  }
}

/** How often each term occurs in each turn, and the number of each term: its place among all by first use. */
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
      let term = termOf.get(word);
      if (term === undefined) {
        term = termOf.size;
        termOf.set(word, term);
      }
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
