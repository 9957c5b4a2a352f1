import { splitIntoSentences, type TaggedWord } from '../../model/text/tagged-sentences.ts';
import { listWords, type PlacedWord } from './entity-registry.ts';
import { NOT_NAMES } from './question-cues.ts';

/** Modal verbs that are names too; at the beginning of a question they are verbs. */
const MODAL = /^(?:will|may|can)$/i;
const CLOSED_CLASS = new Set(['AUX', 'VERB', 'DET', 'PRON', 'ADP', 'ADV', 'CCONJ', 'SCONJ', 'PART']);

/** `Ann's` has two words. */
const POSSESSIVE = 's';

/** A part of a text, in characters. */
export interface Place {
  readonly start: number;
  readonly end: number;
}

export interface Word extends PlacedWord {
  readonly written: string;
  readonly tag: TaggedWord['tag'];
  readonly stop: boolean;
  readonly first: boolean;
  /** Whether it is part of a time: `May`. */
  readonly inTime: boolean;
}

/** The words of a question, each with the tag of the language model's token that it is in. */
export function readWords(text: string, times: readonly Place[]): Word[] {
  const tokens: { token: TaggedWord; end: number; first: boolean }[] = [];
  let at = 0;
  for (const sentence of splitIntoSentences(text))
    for (const [i, token] of sentence.entries()) {
      const offset = text.indexOf(token.text, at);
      if (offset < 0) continue;
      at = offset + token.text.length;
      tokens.push({ token, end: at, first: i === 0 });
    }
  let next = 0;
  return listWords(text).map((word) => {
    while (next < tokens.length - 1 && (tokens[next]?.end ?? 0) <= word.start) next++;
    const { token, first } = tokens[next] ?? {};
    const written = text.slice(word.start, word.end);
    return {
      ...word,
      written,
      tag: token?.tag ?? 'X',
      stop: token?.stop ?? false,
      first: first ?? false,
      inTime: times.some(({ start, end }) => start < word.end && word.start < end),
    };
  });
}

export const isCapital = (written: string) => /^\p{Lu}/u.test(written);

/** Whether a word of a question can be a name that the registry writes with a capital: `will` and `mark` are verbs too. */
export function canBeName({ written, tag, first, inTime }: Word, hasCapitals: boolean): boolean {
  if (inTime) return false;
  if (first && MODAL.test(written)) return false;
  if (!hasCapitals) return !CLOSED_CLASS.has(tag) && !MODAL.test(written);
  return isCapital(written) && !(first && tag === 'AUX');
}

/** Words of a question, by place. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

export const overlap = (a: Span, b: Span) => a.from < b.to && b.from < a.to;

/** Runs of capitalised words that belong to no entity. The first word of a sentence is one only where a name or a verb follows. */
export function findOtherNames(words: readonly Word[], known: readonly Span[]): Span[] {
  const taken = new Set(known.flatMap(({ from, to }) => Array.from({ length: to - from }, (_, i) => from + i)));
  const spans: { from: number; to: number }[] = [];
  for (const [i, word] of words.entries()) {
    const canBegin = isCapital(word.written) && !word.stop && !word.inTime && !taken.has(i);
    if (!canBegin || word.text === POSSESSIVE || NOT_NAMES.has(word.text)) continue;
    const next = words[i + 1];
    const leads =
      next !== undefined && (isCapital(next.written) || next.text === POSSESSIVE || /^(?:AUX|VERB)$/.test(next.tag));
    if (word.first && !(word.tag === 'PROPN' && leads)) continue;
    const last = spans.at(-1);
    if (last?.to === i) last.to = i + 1;
    else spans.push({ from: i, to: i + 1 });
  }
  return spans;
}
