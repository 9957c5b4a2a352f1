import { stemmer } from 'stemmer';
import type { ItsFunction } from 'wink-nlp';
import { once } from '../../core/values/once.ts';
import { getLanguageModel, type LanguageModel } from './language-model.ts';

const ADDRESS = /\b(?:[a-z]+:\/\/|www\.)\S+|(?<!\S)\S+@\S+/gi;

/** Replaces web and mail addresses by blanks; other text keeps its position. */
export function replaceByBlanks(text: string): string {
  return text.replace(ADDRESS, (address) => ' '.repeat(address.length));
}

/** Changes of words besides lower-casing. */
export interface TokenOptions {
  /** True if stop words are left out: those of wink-nlp, or a list in lower case. */
  readonly dropStopWords: boolean | readonly string[];
  /**
   * Whether words become stems: by Porter's second algorithm as wink-nlp has it; `english`, the same with its step 0,
   * which drops the ending of a possessive, as Snowball's stemmer of that name; or `porter`, by his first of 1980, as
   * Terrier and most published baselines.
   */
  readonly stem: boolean | 'porter' | 'english';
}

/** A text as its tokens, in their order. */
export type Tokeniser = (text: string) => string[];

/** Letters, marks and digits, with inner apostrophes: `don't` is one word, `3.5` and `follow-up` are two. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*/gu;

/** Maps one word; null drops it. */
type WordRule = (word: string) => string | null;

/**
 * Lower-cased Unicode words of a text in order. A regular expression: Intl.Segmenter and wink-nlp find nearly the same
 * words of mail and take many times as long.
 */
export function createTokeniser(options: TokenOptions): Tokeniser {
  const splitIntoTerms: Tokeniser = (text) =>
    text.normalize('NFKC').replaceAll('’', "'").toLowerCase().match(WORD) ?? [];
  if (options.dropStopWords === false && options.stem === false) return splitIntoTerms;
  const readWord = createWordReader();
  const [keep, reduce] = [createStopRule(options, readWord), createStemRule(options, readWord)];
  const rule = memoiseRule((word) => (keep(word) ? reduce(word) : null));
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

type WinkTokens = ReturnType<ReturnType<LanguageModel['readDoc']>['tokens']>;

/** Reads a word by the language model, once for both rules below. */
function createWordReader(): (word: string) => WinkTokens {
  let last: { readonly word: string; readonly tokens: WinkTokens } | null = null;
  return (word) => {
    if (last?.word !== word) last = { word, tokens: getLanguageModel().readDoc(word).tokens() };
    return last.tokens;
  };
}

// The package declares these two with other signatures than those that `out` takes.
const asItem = <T>(its: unknown) => its as ItsFunction<T>;

/** True if a word counts. */
function createStopRule(
  { dropStopWords }: TokenOptions,
  readWord: (word: string) => WinkTokens,
): (word: string) => boolean {
  if (typeof dropStopWords !== 'boolean') {
    const dropped = new Set(dropStopWords);
    return (word) => !dropped.has(word);
  }
  if (!dropStopWords) return () => true;
  const stopWordFlag = asItem<boolean>(getLanguageModel().its.stopWordFlag);
  // wink splits contractions: `don't` is a stop word when `do` and `n't` are.
  return (word) => !readWord(word).out(stopWordFlag).every(Boolean);
}

/** A word without the ending of a possessive: `rome's` is `rome`. */
export const dropPossessive = (word: string): string => (word.endsWith("'s") ? word.slice(0, -2) : word);

/** The form of a word that is counted. */
function createStemRule({ stem }: TokenOptions, readWord: (word: string) => WinkTokens): (word: string) => string {
  if (stem === 'porter') return stemmer;
  if (!stem) return (word) => word;
  const stemOf = asItem<string>(getLanguageModel().its.stem);
  const prepare = stem === 'english' ? dropPossessive : (word: string) => word;
  return (written) => {
    const word = prepare(written);
    const tokens = readWord(word);
    return tokens.length() === 1 ? tokens.itemAt(0).out(stemOf) : word; // a contraction has no stem of its own
  };
}

const splitIntoContentStems = once(() => createTokeniser({ dropStopWords: true, stem: true }));

/** The possessive of a name is the name: a tokeniser keeps what follows an apostrophe. */
const POSSESSIVE = /['’]s(?![\p{L}\p{M}\p{N}])/giu;

/** The stems of the content words of a text, each once: stop words are left out, inflections of a word are one stem. */
export function listContentStems(text: string): Set<string> {
  return new Set(splitIntoContentStems()(text.replace(POSSESSIVE, '')));
}

/**
 * The stems of content words that both texts hold, in the order of the first; none for a paraphrase without a word of
 * its source.
 */
export function listSharedContentStems(a: string, b: string): string[] {
  const other = listContentStems(b);
  return [...listContentStems(a)].filter((stem) => other.has(stem));
}
