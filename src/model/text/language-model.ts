import { createRequire } from 'node:module';
import type { WinkMethods } from 'wink-nlp';
import { ValidationError } from '../../core/errors/errors.ts';

/** Values that are referred to by number: those of the package's lexicon, then those that texts brought. */
interface Numbered {
  readonly hash: Record<string, number>;
  readonly list: readonly string[];
  /** The number of the next value. */
  readonly index: number;
  readonly intrinsicSize: number;
}

interface Core {
  readonly features: { readonly lexeme: Numbered; readonly [feature: string]: Numbered };
}

interface Model {
  core(): Core;
  metaCER(): unknown;
  featureFn(...options: unknown[]): Record<string, unknown>;
}

const PIPE = ['sbd', 'pos', 'ner'];

export interface LanguageModel extends WinkMethods {
  /** The number of lexemes kept from the texts read so far. */
  readonly lexemes: number;
}

interface LanguageModelLimits {
  /** Lexemes of texts that are kept; a longer list is exchanged for a new one before the next text is read. With the lexicon at most `numbered`. */
  readonly kept: number;
  /** Lexemes that have a number, those of the package's lexicon among them. Patterns of entities have the numbers above. */
  readonly numbered: number;
}

/** 25 MB of lexemes, and the 20 bits that wink-nlp has for a number. */
const LIMITS: LanguageModelLimits = { kept: 2 ** 18, numbered: 2 ** 20 };

/**
 * In characters. wink-nlp's time grows with the square of the length of a word, and with the cube for some words (`http://http://…`). A longer word is read in parts
 * of this length.
 */
const LONGEST_WORD = 512;
const LONG_WORD = new RegExp(`\\S{${LONGEST_WORD}}(?=\\S)`, 'gu');

const require = createRequire(import.meta.url);

let shared: LanguageModel | undefined;
let patterns: unknown;

/**
 * The package's model without the parts that grow with each text. It lists the shapes, prefixes and suffixes of unknown words as well; nothing here asks for
 * them, so every unknown word has the first of the lexicon. The model of custom patterns doubles in length each time that the package loads it, and the
 * twentieth time is one too many: it is loaded once.
 */
function loadBoundedModel(): Model {
  const model = require('wink-eng-lite-web-model') as Model;
  patterns ??= model.metaCER();
  const core = model.core();
  const createFeatureReader = (feature: string) => () => core.features[feature]?.list[0];
  const [shape, prefix, suffix] = ['shape', 'prefix', 'suffix'].map(createFeatureReader);
  return {
    ...model,
    core: () => core,
    metaCER: () => patterns,
    featureFn: (...options) => ({ ...model.featureFn(...options), shape, prefix, suffix }),
  };
}

/** The core before any text was read. Documents read before keep the lexemes that they refer to. */
function renewCore(core: Core): Core {
  const { lexeme } = core.features;
  const list = lexeme.list.slice(0, lexeme.intrinsicSize);
  return { ...core, features: { ...core.features, lexeme: { ...lexeme, list, index: list.length } } };
}

/**
 * wink-nlp's English model with sentences, parts of speech and entities, for {@link getLanguageModel} and for comparisons with a model that has read nothing. Reads
 * every text as if it were the first, and keeps a bounded number of lexemes however many texts it reads.
 *
 * wink-nlp remembers each token of a text and takes it whole wherever it stands again: "rpm's," makes one token of what "rpm's" makes two of, and of every later
 * "rpm's". So what it looks words up by forgets them before the next text. The list of lexemes can't forget, since documents point into it: it is exchanged for
 * a new one, which takes 8 ms, and goes with the last of its documents.
 *
 * @throws ValidationError from `readDoc` for a text with more distinct words than the package can number, about 900,000.
 */
export function loadLanguageModel({ kept, numbered }: LanguageModelLimits = LIMITS): LanguageModel {
  const winkNlp = require('wink-nlp') as (model: unknown, pipe: readonly string[]) => WinkMethods;
  const model = loadBoundedModel();
  let core = model.core();
  let nlp = winkNlp(model, PIPE);
  let known = core.features.lexeme.list.length;
  const renew = () => {
    core = renewCore(core);
    nlp = winkNlp({ ...model, core: () => core }, PIPE);
    known = core.features.lexeme.list.length;
  };
  const countLexemes = () => core.features.lexeme.list.length - core.features.lexeme.intrinsicSize;
  const forget = () => {
    const { hash, list } = core.features.lexeme;
    for (const lexeme of list.slice(known)) delete hash[lexeme];
    known = list.length;
  };
  const readDoc: WinkMethods['readDoc'] = (text) => {
    forget();
    // A token has a character at least, and brings two lexemes at most: itself and its lower case.
    const most = countLexemes() + 2 * text.length;
    if (countLexemes() > 0 && most > kept) renew();
    const document = nlp.readDoc(text.replace(LONG_WORD, '$& '));
    if (core.features.lexeme.list.length > numbered) throw describeTooManyWords(text, numbered);
    return document;
  };
  return Object.defineProperty(Object.assign(Object.create(nlp), { readDoc }), 'lexemes', { get: countLexemes });
}

function describeTooManyWords(text: string, numbered: number): ValidationError {
  return new ValidationError(
    `text of ${text.length} characters has too many distinct words for the language model, which allows ${numbered} with its own; shorten the text`,
    { characters: text.length, numbered },
  );
}

/**
 * The model that all readers share, see {@link loadLanguageModel}. What a text holds does not depend on what was read before. It takes a third of a second to
 * load, so it waits for the first text.
 */
export function getLanguageModel(): LanguageModel {
  shared ??= loadLanguageModel();
  return shared;
}
