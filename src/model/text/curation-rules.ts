import { z } from 'zod';
import { once } from '../../core/values/once.ts';
import { createTokeniser, listContentStems } from './tokens.ts';

/** What is done with a new text and a text that is there. */
export type CurationOperation = 'add' | 'update' | 'delete' | 'noop';

/** The cosines from which rules compare texts. */
export const curationRuleOptions = z
  .strictObject({
    /** From here on a text that an earlier one contains is a duplicate. */
    duplicateAbove: z.number().min(-1).max(1).default(0.95),
    /** From here on a text that contains an earlier one replaces it. */
    updateAbove: z.number().min(-1).max(1).default(0.8),
    /** From here on a text may contradict an earlier one. */
    contradictAbove: z.number().min(-1).max(1).default(0.6),
  })
  .prefault({});
/** The cosines from which on two texts may be duplicates, one richer than the other, or contradict each other. */
export type CurationRuleOptions = z.output<typeof curationRuleOptions>;

/** What rules read of a text. */
export interface CuratedText {
  /** Its words in lower case, with a space on each side. */
  readonly words: string;
  readonly stems: ReadonlySet<string>;
  /** The stems with a digit, in order. */
  readonly numbers: string;
  /** The other stems, in order. */
  readonly names: string;
  /** True if it says that something no longer holds. */
  readonly corrects: boolean;
}

/** A text that is there, with the cosine of its vector to that of the new text. */
export interface ComparedText {
  readonly text: CuratedText;
  readonly cosine: number;
}

/** An operation, the rule that chose it, and the place of the text that it concerns; null for an addition. */
export interface CurationDecision {
  readonly operation: CurationOperation;
  readonly rule: 'same words' | 'more words' | 'correction' | 'other value' | 'new';
  readonly neighbour: number | null;
}

/** What says that something held before and no longer does. */
const CORRECTION =
  /\b(?:no longer|(?:not|\w+n['’]t)\b.{0,60}\bany\s?more|actually|correction|amendment|erratum|used to|instead of|rather than|changed to|moved to|wrong about)\b/iu;
const NUMBER = /\d/;
/** Stems that a correction and what it corrects share. */
const SHARED = 2;

const splitIntoWords = once(() => createTokeniser({ dropStopWords: false, stem: false }));

/** Reads a text once, so that it can be compared with many. */
export function readCuratedText(text: string): CuratedText {
  const stems = [...listContentStems(text)].sort();
  return {
    words: ` ${splitIntoWords()(text).join(' ')} `,
    stems: new Set(stems),
    numbers: stems.filter((stem) => NUMBER.test(stem)).join(' '),
    names: stems.filter((stem) => !NUMBER.test(stem)).join(' '),
    corrects: CORRECTION.test(text),
  };
}

/** The rule that fits a new text and one that is there; null for none. The first of the list that fits counts. */
function compare(added: CuratedText, known: CuratedText, cosine: number, options: CurationRuleOptions) {
  const { duplicateAbove, updateAbove, contradictAbove } = options;
  if (added.stems.size === 0 || known.stems.size === 0) return null;
  if (cosine >= duplicateAbove && known.words.includes(added.words)) return 'same words';
  const differs = added.numbers !== known.numbers && added.numbers !== '' && known.numbers !== '';
  if (cosine >= contradictAbove && differs && added.names === known.names) return 'other value';
  const shared = [...added.stems].filter((stem) => known.stems.has(stem)).length;
  if (cosine >= contradictAbove && shared >= SHARED && added.corrects) return 'correction';
  const isRicher = shared === known.stems.size && added.stems.size > shared;
  return cosine >= updateAbove && isRicher ? 'more words' : null;
}

const OPERATIONS = {
  'same words': 'noop',
  'other value': 'delete',
  correction: 'delete',
  'more words': 'update',
} as const;

/**
 * Decides by rules what a new text does to those that are there, without a model. Each known text is compared in turn, nearest first, and the first that a rule
 * fits decides:
 *
 * - `same words` (noop): it contains the new text word for word;
 * - `other value` (delete): the same content words, and other numbers;
 * - `correction` (delete): the new text has words of a correction, such as "no longer", and two content stems in common;
 * - `more words` (update): the new text has all of its content stems, and others.
 *
 * Otherwise the text is new (add).
 */
export function decideByRules(
  added: CuratedText,
  known: readonly ComparedText[],
  options: CurationRuleOptions,
): CurationDecision {
  for (const [neighbour, { text, cosine }] of known.entries()) {
    const rule = compare(added, text, cosine, options);
    if (rule !== null) return { operation: OPERATIONS[rule], rule, neighbour };
  }
  return { operation: 'add', rule: 'new', neighbour: null };
}
