import type { TokenCounterName } from './token-counter-names.ts';
import { createTokeniser } from './tokens.ts';

/** The number of tokens of a text. */
export type CountTokens = (text: string) => number;

/** Within a text the names of special tokens are text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * Counts tokens by name. `o200k_base` and `cl100k_base` are byte-pair encodings of the package gpt-tokenizer, loaded with their first use (some 100 ms); a special
 * token such as `<|endoftext|>` inside a text is text. `words` are those of BM25. `characters/4` is floor(length / 4), lengths in UTF-16 units.
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
      return (text) => countTokens(text, AS_TEXT);
    }
    case 'cl100k_base': {
      const { countTokens } = await import('gpt-tokenizer/encoding/cl100k_base');
      return (text) => countTokens(text, AS_TEXT);
    }
  }
}
