import { freezeDeeply } from '../../core/values/frozen.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { createTokeniser, type Tokeniser, type TokenOptions } from './tokens.ts';

/** Characters of a gram: long enough to mean something, short enough to be shared by `paint`, `painter` and `painting`. */
const GRAM = 4;

/** Consecutive words, in order. */
function listWordPairs(words: readonly string[]): string[] {
  return words.slice(1).map((word, i) => `${words[i]} ${word}`);
}

/** Every run of four characters of a word with its ends marked; a shorter word is a gram by itself. */
function listCharacterGrams(word: string): string[] {
  const marked = Array.from(`_${word}_`);
  const count = Math.max(1, marked.length - GRAM + 1);
  return Array.from({ length: count }, (_, start) => marked.slice(start, start + GRAM).join(''));
}

/** The units that a text is split into. */
export const TERM_KINDS = freezeDeeply({
  words: (options: TokenOptions): Tokeniser => createTokeniser(options),
  pairs: (options: TokenOptions): Tokeniser => {
    const tokenise = createTokeniser(options);
    return (text) => listWordPairs(tokenise(text));
  },
  /** Character grams within words, which are not stemmed. */
  characters: ({ dropStopWords }: TokenOptions): Tokeniser => {
    const tokenise = createTokeniser({ dropStopWords, stem: false });
    const known = new Map<string, string[]>();
    return (text) => tokenise(text).flatMap((word) => getOrCompute(known, word, listCharacterGrams));
  },
} as const satisfies Record<string, (options: TokenOptions) => Tokeniser>);

/** A kind of term that is recognised in a text. */
export type TermKind = keyof typeof TERM_KINDS;
