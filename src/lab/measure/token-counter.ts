import { getOrCompute } from '../../core/values/once.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import type { Corpus } from '../../model/turns/corpus.ts';

/** What a token is, as passports state it. */
export const TOKENS = 'lower-cased Unicode words, as the bm25 index has them';

const countsOf = new WeakMap<Corpus, Map<string, number>>();
const tokenise = createTokeniser({ dropStopWords: false, stem: false });

/** The number of words of a turn; each text is read once. */
export function createTokenCounter(corpus: Corpus): (turnId: string) => number {
  let counts = countsOf.get(corpus);
  if (counts === undefined) {
    counts = new Map();
    countsOf.set(corpus, counts);
  }
  const known = counts;
  return (turnId) => getOrCompute(known, turnId, () => countTokens(corpus.getTurn(turnId).text));
}

/** The number of tokens of a text: lower-cased Unicode words, as BM25 has them. */
export function countTokens(text: string): number {
  return tokenise(text).length;
}
