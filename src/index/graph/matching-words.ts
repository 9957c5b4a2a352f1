/** Least share of trigrams of two spellings of a word: `truck` and `trucks`, `centre` and `center`. */
const ALIKE = 0.5;
/** A word with a digit, or a Roman number; one letter is as likely an initial, except for I, V and X. */
const NUMBER = /\p{N}|^(?:[ivx]|[ivxlcdm]{2,})$/u;

/** The words of a form, without marks. */
export function splitFormWords(form: string): string[] {
  return form.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

function listTrigrams(word: string): Set<string> {
  return new Set(Array.from(word, (_, i) => ` ${word} `.slice(i, i + 3)));
}

function isInitialOf(initial: string, word: string): boolean {
  return initial.length === 1 && word.startsWith(initial);
}

/**
 * True if two words are one, in another spelling or shortened to its first letter. Numbers are alike where they are
 * equal.
 */
function areAlike(a: string, b: string): boolean {
  if (a === b) return true;
  if (NUMBER.test(a) || NUMBER.test(b)) return false;
  if (isInitialOf(a, b) || isInitialOf(b, a)) return true;
  const [first, second] = [listTrigrams(a), listTrigrams(b)];
  const shared = [...first].filter((trigram) => second.has(trigram)).length;
  return shared >= ALIKE * (first.size + second.size - shared);
}

/** True if two forms hold the same numbers in the same order. */
export function haveSameNumbers(a: readonly string[], b: readonly string[]): boolean {
  const listNumbers = (words: readonly string[]) => words.filter((word) => NUMBER.test(word)).join(' ');
  return listNumbers(a) === listNumbers(b);
}

/**
 * Whether two forms may name one concept by their words: the first words are alike, so are the last, every word of one
 * form is alike to a word of the other, and both hold the same numbers. `ann b. davis` and `ann bradford davis` match;
 * `diocese of Kundiawa` and `diocese of Rochester` do not, nor do `world war i` and `world war ii`.
 */
export function haveMatchingWords(a: readonly string[], b: readonly string[]): boolean {
  const [first, second] = [a.at(0), b.at(0)];
  const [last, final] = [a.at(-1), b.at(-1)];
  if (first === undefined || second === undefined || last === undefined || final === undefined) return false;
  if (!haveSameNumbers(a, b) || !areAlike(first, second) || !areAlike(last, final)) return false;
  const covers = (some: readonly string[], others: readonly string[]) =>
    some.every((word) => others.some((other) => areAlike(word, other)));
  return covers(a, b) || covers(b, a);
}
