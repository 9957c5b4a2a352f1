import type { TokenCounterName } from './token-options.ts';
import { createTokeniser } from './tokens.ts';

/** The number of tokens of a text. */
export type CountTokens = (text: string) => number;

/** Within a text the names of special tokens are text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** A run of one class of characters that byte-pair encoding would merge as a whole, which takes the square of its length. */
const LONG_RUN = /[\p{L}\p{M}]{2000}|\s{2000}|[^\s\p{L}\p{M}\p{N}]{2000}/gu;
const SHORTEST_CUT = 2000;

/** A text, cut after each 2,000 characters of a run without a break. */
function cutLongRuns(text: string): string[] {
  if (text.length <= SHORTEST_CUT) return [text];
  const pieces: string[] = [];
  let from = 0;
  for (const { 0: run, index } of text.matchAll(LONG_RUN)) {
    pieces.push(text.slice(from, index + run.length));
    from = index + run.length;
  }
  return [...pieces, text.slice(from)];
}

/** Counts in time that grows with the length of a text, whatever it is. */
function countPieces(count: CountTokens): CountTokens {
  return (text) => cutLongRuns(text).reduce((sum, piece) => sum + count(piece), 0);
}

/**
 * Counts tokens by name. `o200k_base` and `cl100k_base` are byte-pair encodings of the package gpt-tokenizer, loaded with their first use (some 100 ms); a special
 * token such as `<|endoftext|>` inside a text is text. A run of letters, of white space or of other marks is counted in pieces of 2,000 characters, which may add two
 * tokens a piece. `words` are those of BM25. `characters/4` is floor(length / 4), lengths in UTF-16 units.
 */
export async function createTokenCounter(name: TokenCounterName): Promise<CountTokens> {
  switch (name) {
    case 'characters/4':
      return (text) => Math.floor(text.length / 4);
    case 'words': {
      const tokenise = createTokeniser({ dropStopWords: false, stem: false });
      return (text) => tokenise(text).length;
    }
    case 'o200k_base': {
      const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
      return countPieces((text) => countTokens(text, AS_TEXT));
    }
    case 'cl100k_base': {
      const { countTokens } = await import('gpt-tokenizer/encoding/cl100k_base');
      return countPieces((text) => countTokens(text, AS_TEXT));
    }
  }
}
