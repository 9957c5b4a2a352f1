import type { SparseMatrix } from '../../core/linear/sparse-matrix.ts';

export interface VocabularyOptions {
  /** Terms in fewer texts are left out: they can tie no two texts together. */
  readonly minDocumentFrequency: number;
  /** Terms in a larger share of the texts are left out, 0 to 1. */
  readonly maxDocumentShare: number;
}

/** The terms kept, in the order of their first use, with their weights. */
export interface Vocabulary {
  readonly indexOf: ReadonlyMap<string, number>;
  /** [terms] ln((1 + n) / (1 + df)) + 1, as if one more text held every term. */
  readonly inverseDocumentFrequency: Float64Array;
}

/** Counts in how many of the n texts each term is found. */
export function fitVocabulary(tokenLists: readonly (readonly string[])[], options: VocabularyOptions): Vocabulary {
  const frequencies = new Map<string, number>();
  for (const tokens of tokenLists) {
    for (const term of new Set(tokens)) frequencies.set(term, (frequencies.get(term) ?? 0) + 1);
  }
  const count = tokenLists.length;
  const kept = [...frequencies].filter(
    ([, frequency]) => frequency >= options.minDocumentFrequency && frequency <= options.maxDocumentShare * count,
  );
  return {
    indexOf: new Map(kept.map(([term], index) => [term, index])),
    inverseDocumentFrequency: Float64Array.from(kept, ([, frequency]) => Math.log((1 + count) / (1 + frequency)) + 1),
  };
}

/**
 * A row a text: (1 + ln tf) · idf, scaled to length 1. Terms out of the vocabulary are skipped; a text without a known one is an empty row.
 *
 * @returns [texts, terms]
 */
export function weighTerms(tokenLists: readonly (readonly string[])[], vocabulary: Vocabulary): SparseMatrix {
  const offsets = new Int32Array(tokenLists.length + 1);
  const columnOf: number[] = [];
  const values: number[] = [];
  for (const [row, tokens] of tokenLists.entries()) {
    for (const [term, count] of countTerms(tokens, vocabulary)) {
      columnOf.push(term);
      values.push((1 + Math.log(count)) * vocabulary.inverseDocumentFrequency[term]!);
    }
    offsets[row + 1] = values.length;
    normalise(values, offsets[row]!);
  }
  return {
    rows: tokenLists.length,
    columns: vocabulary.inverseDocumentFrequency.length,
    offsets,
    columnOf: Int32Array.from(columnOf),
    values: Float64Array.from(values),
  };
}

function countTerms(tokens: readonly string[], vocabulary: Vocabulary): Map<number, number> {
  const counts = new Map<number, number>();
  for (const token of tokens) {
    const term = vocabulary.indexOf.get(token);
    if (term !== undefined) counts.set(term, (counts.get(term) ?? 0) + 1);
  }
  return counts;
}

/** Scales the values from `start` on to length 1. */
function normalise(values: number[], start: number): void {
  let squares = 0;
  for (let i = start; i < values.length; i++) squares += values[i]! ** 2;
  const length = Math.sqrt(squares);
  for (let i = start; i < values.length; i++) values[i]! /= length;
}
