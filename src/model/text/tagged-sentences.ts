import type { ItsFunction, PartOfSpeech } from 'wink-nlp';
import { getLanguageModel } from './language-model.ts';

/** A word or a mark of a text, with what the language model says of it. */
export interface TaggedWord {
  readonly text: string;
  readonly tag: PartOfSpeech;
  readonly stop: boolean;
  /** The form that a dictionary lists: `map` of `maps`. Its case varies. */
  readonly lemma: string;
  /** True if it stands directly after the token before. */
  readonly joined: boolean;
}

/** Marks that are left out: a long run of them has no word, and each takes the time of a word. */
const LONG_MARKS = /([^\s\p{L}\p{N}]{128})[^\s\p{L}\p{N}]+/gu;

/** Sentences as words with their marks. A line that is broken begins a new one: headers and lists have no full stops. */
export function splitIntoSentences(text: string): TaggedWord[][] {
  const { its, readDoc } = getLanguageModel();
  const document = readDoc(text.replace(LONG_MARKS, '$1'));
  const tokens = document.tokens();
  const texts = tokens.out(its.value) as string[];
  const tags = tokens.out(its.pos) as PartOfSpeech[];
  // The package declares some of these with another signature than that which `out` takes.
  const stops = tokens.out(its.stopWordFlag as unknown as ItsFunction<boolean>) as boolean[];
  const lemmas = tokens.out(its.lemma as unknown as ItsFunction<string>) as string[];
  const spaces = tokens.out(its.precedingSpaces) as string[];
  const starts = new Set((document.sentences().out(its.span) as number[][]).map(([start]) => start));
  const sentences: TaggedWord[][] = [[]];
  for (const [i, word] of texts.entries()) {
    if (starts.has(i) || word.includes('\n')) sentences.push([]);
    sentences.at(-1)?.push({
      text: word,
      tag: tags[i] as PartOfSpeech,
      stop: stops[i] as boolean,
      lemma: lemmas[i] as string,
      joined: spaces[i] === '',
    });
  }
  return sentences;
}
