import { once } from '../../core/values/once.ts';
import { createTokeniser } from './tokens.ts';

const splitIntoContentStems = once(() => createTokeniser({ dropStopWords: true, stem: true }));

/** The possessive of a name is the name: a tokeniser keeps what follows an apostrophe. */
const POSSESSIVE = /['’]s(?![\p{L}\p{M}\p{N}])/giu;

/** The stems of the content words of a text, each once: stop words are left out, inflections of a word are one stem. */
export function listContentStems(text: string): Set<string> {
  return new Set(splitIntoContentStems()(text.replace(POSSESSIVE, '')));
}

/** The stems of content words that both texts hold, in the order of the first; none for a paraphrase without a word of its source. */
export function listSharedContentStems(a: string, b: string): string[] {
  const other = listContentStems(b);
  return [...listContentStems(a)].filter((stem) => other.has(stem));
}
