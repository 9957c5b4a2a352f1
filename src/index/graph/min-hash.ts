import { computeHash } from '../../core/hash/hash.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { getOrCompute } from '../../core/values/once.ts';

/** Characters of a shingle. */
const SHINGLE = 3;
/** Two forms of Jaccard similarity s share a band with probability 1 - (1 - s^ROWS)^BANDS: .22 at .2, .88 at .4 and .99 at .5. */
const BANDS = 32;
const ROWS = 3;

/** A form as the set of its shingles. */
export interface Signature {
  /** Distinct shingles as numbers, ascending. */
  readonly shingles: Int32Array;
  /** [BANDS] the bucket of each band; forms that share one are probably similar. */
  readonly buckets: readonly number[];
}

/** The last step of MurmurHash3: every bit of the input changes every bit of the output. */
function mix(value: number): number {
  let hash = value | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Shared / all of two ascending sets; 0 where both are empty. */
export function computeJaccard(a: Int32Array, b: Int32Array): number {
  let shared = 0;
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    const difference = (a[i] as number) - (b[j] as number);
    if (difference === 0) shared++;
    if (difference <= 0) i++;
    if (difference >= 0) j++;
  }
  return shared === 0 ? 0 : shared / (a.length + b.length - shared);
}

/**
 * MinHash signatures of texts over their shingles of 3 characters, with a space before and after each text, in bands for locality-sensitive hashing (Broder 1997; Indyk
 * and Motwani 1998). A signature depends on the text and the seed alone; numbers of shingles are those of this hasher. Cost is linear in the text.
 */
export class MinHasher {
  readonly #seeds: readonly number[];
  readonly #numberOf = new Map<string, number>();
  /** By number of shingle. */
  readonly #hashes: number[] = [];

  constructor(seed = 1) {
    const random = createRandom(seed, 'min-hash');
    this.#seeds = Array.from({ length: BANDS * ROWS }, () => random.integer(2 ** 31));
  }

  sign(text: string): Signature {
    const shingles = this.#listShingles(text);
    const hashes = shingles.map((shingle) => this.#hashes[shingle] as number);
    const least = this.#seeds.map((seed) => {
      let minimum = 0xffffffff;
      for (let i = 0; i < hashes.length; i++) {
        const hash = mix((hashes[i] as number) ^ seed);
        if (hash < minimum) minimum = hash;
      }
      return minimum;
    });
    const buckets = Array.from({ length: BANDS }, (_, band) =>
      least.slice(band * ROWS, (band + 1) * ROWS).reduce((bucket, hash) => mix(Math.imul(bucket, 31) + hash), band),
    );
    return { shingles, buckets };
  }

  #listShingles(text: string): Int32Array {
    const padded = ` ${text} `;
    const shingles = new Set<number>();
    for (let i = 0; i + SHINGLE <= padded.length; i++) shingles.add(this.#number(padded.slice(i, i + SHINGLE)));
    return Int32Array.from(shingles).sort();
  }

  #number(shingle: string): number {
    return getOrCompute(
      this.#numberOf,
      shingle,
      () => this.#hashes.push(Number.parseInt(computeHash(shingle).slice(0, 8), 16)) - 1,
    );
  }
}
