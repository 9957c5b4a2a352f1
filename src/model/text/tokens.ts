import { stemmer } from 'stemmer';
import type { ItsFunction } from 'wink-nlp';
import { z } from 'zod';
import { getOrCompute, once } from '../../core/values/once.ts';
import { getLanguageModel, type LanguageModel } from './language-model.ts';

/** Ways to count the tokens of a text: by the tokenizer of a model, as words, or as a quarter of the characters. */
export const TOKEN_COUNTERS = Object.freeze(['o200k_base', 'cl100k_base', 'words', 'characters/4'] as const);
/** One of {@link TOKEN_COUNTERS}. */
type TokenCounterName = (typeof TOKEN_COUNTERS)[number];

const WHOLE_WORD = /^[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*$/u;

/** A word as texts are split into words; another entry would drop nothing. */
const stopWord = z
  .string()
  .refine((word) => WHOLE_WORD.test(word) && word === word.toLowerCase(), 'a single word in lower case');

const stopWords = z.array(stopWord).min(1) as unknown as z.ZodType<readonly string[]>;

/** The schema of the options that decide which words of a text count, and in which form. */
export function createTokenSchema(defaults: TokenOptions) {
  return {
    dropStopWords: z.union([z.boolean(), stopWords]).default(defaults.dropStopWords),
    stem: z.union([z.boolean(), z.enum(['porter', 'english'])]).default(defaults.stem),
  };
}

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
export type Tokeniser = (text: string) => readonly string[];

/** Letters, marks and digits, with inner apostrophes: `don't` is one word, `3.5` and `follow-up` are two. */
const WORD = /[\p{L}\p{M}\p{N}]+(?:'[\p{L}\p{M}]+)*/gu;

/** Maps one word; null drops it. */
type WordRule = (word: string) => string | null;

/**
 * Lower-cased Unicode words of a text in order. A regular expression: Intl.Segmenter and wink-nlp find nearly the same
 * words of mail and take many times as long.
 */
const splitIntoTerms: Tokeniser = (text) => text.normalize('NFKC').replaceAll('’', "'").toLowerCase().match(WORD) ?? [];

/** The tokenisers with rules of the package, by their options: indexes and encoders of a run read the same texts. */
const tokenisers = new Map<string, Tokeniser>();

/** {@link splitIntoTerms}, then rules for its words. Without a list of stop words the tokeniser is shared. */
export function createTokeniser({ dropStopWords, stem }: TokenOptions): Tokeniser {
  if (dropStopWords === false && stem === false) return splitIntoTerms;
  const create = () => createRuledTokeniser({ dropStopWords, stem });
  return typeof dropStopWords === 'boolean' ? getOrCompute(tokenisers, `${dropStopWords} ${stem}`, create) : create();
}

function createRuledTokeniser(options: TokenOptions): Tokeniser {
  const readWord = createWordReader();
  const [keep, reduce] = [createStopRule(options, readWord), createStemRule(options, readWord)];
  const rule: WordRule = memoise((word) => (keep(word) ? reduce(word) : null));
  return memoise((text) =>
    splitIntoTerms(text)
      .map(rule)
      .filter((word) => word !== null),
  );
}

/** Characters of texts, or of words, that are kept: some 30 MB, more words than most corpora have. */
const KEPT = 2 ** 23;
/** Characters that an entry takes as much memory as, besides its own. */
const ENTRY = 16;

/**
 * Reads each distinct word or text once, until as many others were read as are kept: a corpus has ten to twenty times
 * fewer distinct words than words.
 */
function memoise<T>(read: (text: string) => T): (text: string) => T {
  const known = new Map<string, T>();
  let room = KEPT;
  return (text) => {
    let result = known.get(text);
    if (result === undefined) {
      result = read(text);
      room -= ENTRY + text.length;
      if (room < 0) known.clear();
      if (room < 0) room = KEPT;
      known.set(text, result);
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

/** The number of tokens of a text. */
export type CountTokens = (text: string) => number;

/** Within a text the names of special tokens are text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/**
 * A run of one class of characters that byte-pair encoding would merge as a whole, which takes the square of its
 * length.
 */
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
 * Counts tokens by name. `o200k_base` and `cl100k_base` are byte-pair encodings of the package gpt-tokenizer, loaded
 * with their first use (some 100 ms); a special token such as `<|endoftext|>` inside a text is text. A run of letters,
 * of white space or of other marks is counted in pieces of 2,000 characters, which may add two tokens a piece. `words`
 * are those of BM25. `characters/4` is floor(length / 4), lengths in UTF-16 units.
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

const NAME_WORD = /[\p{L}\p{M}\p{N}]+/gu;

/** A word of a text in lower case, with its place. */
export interface PlacedWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The words of a text without marks: `payments-gateway` has two. */
export function listWords(text: string): PlacedWord[] {
  return [...text.matchAll(NAME_WORD)].map(({ 0: word, index }) => ({
    text: word.normalize('NFKC').toLowerCase(),
    start: index,
    end: index + word.length,
  }));
}

/** The words of a name as one text: equal for two spellings that differ in case, marks and white space. */
export function joinWords(words: readonly PlacedWord[]): string {
  return words.map(({ text }) => text).join(' ');
}
