import type { ItsFunction } from 'wink-nlp';
import { getLanguageModel } from './language-model.ts';

/** Changes of words besides lower-casing. */
export interface TokenOptions {
  readonly dropStopWords: boolean;
  /** Porter's stems. */
  readonly stem: boolean;
}

/** A text as its tokens, in their order. */
export type Tokeniser = (text: string) => string[];

/** Letters, marks and digits, with inner apostrophes: `don't` is one word, `3.5` and `follow-up` are two. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*/gu;

/** Maps one word; null drops it. */
type WordRule = (word: string) => string | null;

/**
 * Lower-cased Unicode words of a text in order. A regular expression: Intl.Segmenter and wink-nlp find nearly the same words of mail and take many times as
 * long.
 */
export function createTokeniser(options: TokenOptions): Tokeniser {
  const splitIntoTerms: Tokeniser = (text) =>
    text.normalize('NFKC').replaceAll('’', "'").toLowerCase().match(WORD) ?? [];
  if (!options.dropStopWords && !options.stem) return splitIntoTerms;
  const rule = memoiseRule(createWinkRule(options));
  return (text) =>
    splitIntoTerms(text)
      .map(rule)
      .filter((word) => word !== null);
}

/** Distinct words whose outcome is kept, some 10 MB; more than most corpora have. */
const KNOWN_WORDS = 2 ** 17;

/** The rule reads each distinct word once: a corpus has ten to twenty times fewer of them than words. */
function memoiseRule(rule: WordRule): WordRule {
  const known = new Map<string, string | null>();
  return (word) => {
    let result = known.get(word);
    if (result === undefined) {
      result = rule(word);
      if (known.size === KNOWN_WORDS) known.clear();
      known.set(word, result);
    }
    return result;
  };
}

function createWinkRule(options: TokenOptions): WordRule {
  const nlp = getLanguageModel();
  // The package declares these two with other signatures than those that `out` takes.
  const stopWordFlag = nlp.its.stopWordFlag as unknown as ItsFunction<boolean>;
  const stemOf = nlp.its.stem as unknown as ItsFunction<string>;
  return (word) => {
    const tokens = nlp.readDoc(word).tokens();
    // wink splits contractions: `don't` is a stop word when `do` and `n't` are, and has no stem of its own.
    if (options.dropStopWords && tokens.out(stopWordFlag).every(Boolean)) return null;
    return options.stem && tokens.length() === 1 ? tokens.itemAt(0).out(stemOf) : word;
  };
}
