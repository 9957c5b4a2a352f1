import { getOrCompute } from '../../core/values/once.ts';
import { computeJaccard, MinHasher, type Signature } from './min-hash.ts';

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

/** A form that probably names the same concept as another. */
export interface FormAlias {
  readonly form: string;
  /** Jaccard similarity of the shingles of the two forms. */
  readonly similarity: number;
}

/** Forms of a bucket that others are compared with, the earliest: what a form costs does not grow with the number of forms. */
const MOST_COMPARED = 64;
/** A longer form, such as the title of a mail, is a sentence and no name. */
const LONGEST_FORM = 120;

interface KnownForm {
  readonly form: string;
  readonly shingles: Int32Array;
  readonly words: readonly string[];
}

/**
 * Which surface forms of concepts are spellings of one another: `person-centred therapy` and `person-centered therapy`. Forms arrive one after the other. Two forms are
 * aliases where the Jaccard similarity of their character trigrams is at least a threshold and {@link haveMatchingWords}. Candidates share a bucket of MinHash, and each
 * is checked exactly.
 *
 * What is found among earlier forms never depends on later ones, and no third form joins two that are not alike. A form costs its length and the forms of its buckets,
 * at most 64 in each.
 */
export class FormAliases {
  /** Forms that were compared so far. */
  operations = 0;
  readonly #above: number;
  readonly #hasher: MinHasher;
  readonly #known: KnownForm[] = [];
  readonly #numberOf = new Map<string, number>();
  /** [bands] the forms of each bucket. */
  readonly #buckets: Map<number, number[]>[] = [];

  /** @param above the least similarity of aliases, above 0 and at most 1. */
  constructor(above: number, seed = 1) {
    this.#above = above;
    this.#hasher = new MinHasher(seed);
  }

  /** Takes a form in, once. @returns its aliases among the earlier forms, in the order in which these arrived. */
  add(form: string): FormAlias[] {
    if (form.length > LONGEST_FORM) return [];
    const signature = this.#hasher.sign(form);
    const found = this.#compare(form, signature);
    if (this.#numberOf.has(form)) return found;
    const number = this.#known.push({ form, shingles: signature.shingles, words: splitFormWords(form) }) - 1;
    this.#numberOf.set(form, number);
    for (const [band, bucket] of signature.buckets.entries()) {
      this.#buckets[band] ??= new Map();
      const forms = getOrCompute(this.#buckets[band], bucket, () => [] as number[]);
      if (forms.length < MOST_COMPARED) forms.push(number);
    }
    return found;
  }

  /** The aliases of a form among those taken in so far, without the form itself, in the order in which they arrived. */
  find(form: string): FormAlias[] {
    return form.length > LONGEST_FORM ? [] : this.#compare(form, this.#hasher.sign(form));
  }

  #compare(form: string, { shingles, buckets }: Signature): FormAlias[] {
    const candidates = new Set<number>();
    for (const [band, bucket] of buckets.entries())
      for (const number of this.#buckets[band]?.get(bucket) ?? []) candidates.add(number);
    candidates.delete(this.#numberOf.get(form) ?? -1);
    this.operations += candidates.size;
    const words = splitFormWords(form);
    return [...candidates]
      .sort((a, b) => a - b)
      .map((number) => this.#known[number] as KnownForm)
      .map((known) => ({ known, similarity: computeJaccard(shingles, known.shingles) }))
      .filter(({ known, similarity }) => similarity >= this.#above && haveMatchingWords(words, known.words))
      .map(({ known, similarity }) => ({ form: known.form, similarity }));
  }
}
