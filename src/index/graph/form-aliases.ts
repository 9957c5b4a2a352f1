import { getOrCompute } from '../../core/values/once.ts';
import { haveMatchingWords, splitFormWords } from './matching-words.ts';
import { computeJaccard, MinHasher, type Signature } from './min-hash.ts';

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
