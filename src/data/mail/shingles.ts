/** Lower-case words and numbers, the unit of everything that is compared in the preparation. */
export function splitIntoTokens(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Gives each word a number, so that runs of words hash in integer arithmetic. */
export class Vocabulary {
  readonly #ids = new Map<string, number>();

  /** [T] */
  encode(tokens: readonly string[]): Int32Array {
    const ids = new Int32Array(tokens.length);
    for (let i = 0; i < tokens.length; i++) {
      const token = tokens[i] as string;
      let id = this.#ids.get(token);
      if (id === undefined) {
        id = this.#ids.size;
        this.#ids.set(token, id);
      }
      ids[i] = id;
    }
    return ids;
  }
}

/**
 * Hashes of the runs of `size` tokens, one a start position, 53 bits each: among 10^7 runs two different ones meet with
 * a chance below 0.6 %.
 *
 * @param tokens [T]
 * @returns [max(T - size + 1, 0)]
 */
export function hashShingles(tokens: Int32Array, size: number): Float64Array {
  const shingles = new Float64Array(Math.max(tokens.length - size + 1, 0));
  for (let start = 0; start < shingles.length; start++) {
    let low = 0x811c9dc5;
    let high = 0x9e3779b9;
    for (let i = start; i < start + size; i++) {
      const token = tokens[i] as number;
      low = Math.imul(low ^ token, 0x01000193) ^ (low >>> 15);
      high = Math.imul(high ^ token, 0x85ebca6b) ^ (high >>> 13);
    }
    shingles[start] = (low >>> 0) * 0x200000 + ((high ^ (high >>> 11)) >>> 11);
  }
  return shingles;
}

/** A place without a run: hashes of runs are not negative. */
const EMPTY = -1;

/**
 * Numbers hashes of runs in the order in which they come, by open addressing: at most half of the places are taken. A
 * map of JavaScript holds 2^24 values, fewer than the runs of a large archive, and makes an object of each.
 */
export class RunNumbers {
  #places = new Float64Array(2 ** 16).fill(EMPTY);
  #numbers = new Int32Array(2 ** 16).fill(EMPTY);
  #size = 0;

  /** The place of a run, or the empty one that it would take. */
  #locate(run: number): number {
    const mask = this.#places.length - 1;
    let at = Math.floor(run / 2 ** 21) & mask; // the upper 32 of the 53 bits
    while (this.#places[at] !== EMPTY && this.#places[at] !== run) at = (at + 1) & mask;
    return at;
  }

  /** The number of a run, which it gets when it first comes. */
  add(run: number): number {
    const at = this.#locate(run);
    if (this.#places[at] === run) return this.#numbers[at] as number;
    const number = this.#size++;
    this.#put(at, run, number);
    if (2 * this.#size > this.#places.length) this.#grow();
    return number;
  }

  /** The number of a run; -1 if it has not come. */
  find(run: number): number {
    return this.#numbers[this.#locate(run)] as number;
  }

  #put(at: number, run: number, number: number): void {
    this.#places[at] = run;
    this.#numbers[at] = number;
  }

  #grow(): void {
    const [places, numbers] = [this.#places, this.#numbers];
    this.#places = new Float64Array(2 * places.length).fill(EMPTY);
    this.#numbers = new Int32Array(2 * places.length).fill(EMPTY);
    for (let at = 0; at < places.length; at++) {
      const run = places[at] as number;
      if (run !== EMPTY) this.#put(this.#locate(run), run, numbers[at] as number);
    }
  }
}

/** Which texts have a run: chains of entries, the latest first. */
class RunHolders {
  readonly #numbers = new RunNumbers();
  /** By run: the text that had it last, and its latest entry, -1 without one. */
  readonly #last: number[] = [];
  readonly #heads: number[] = [];
  /** By entry: its text, and the entry before it. */
  readonly #texts: number[] = [];
  readonly #before: number[] = [];

  /** The runs of a text, each once. */
  listRuns(hashes: Float64Array, text: number): number[] {
    const runs: number[] = [];
    for (const hash of hashes) {
      const run = this.#numbers.add(hash);
      if (this.#last[run] === text) continue;
      if (run === this.#heads.length) this.#heads.push(-1);
      this.#last[run] = text;
      runs.push(run);
    }
    return runs;
  }

  /** By text: how many of these runs it has. */
  countShared(runs: readonly number[]): ReadonlyMap<number, number> {
    const shared = new Map<number, number>();
    for (const run of runs)
      for (let entry = this.#heads[run] as number; entry >= 0; entry = this.#before[entry] as number) {
        const text = this.#texts[entry] as number;
        shared.set(text, (shared.get(text) ?? 0) + 1);
      }
    return shared;
  }

  add(runs: readonly number[], text: number): void {
    for (const run of runs) {
      this.#before.push(this.#heads[run] as number);
      this.#heads[run] = this.#texts.push(text) - 1;
    }
  }
}

const RUN = 5;
/** Two texts whose runs overlap by more than this are the same text. */
const SAME = 0.8;

/**
 * For each text the position of the first one that it repeats, -1 if it repeats none: Jaccard of the sets of 5-token
 * runs over 0.8. Texts below five tokens repeat nothing. An inverted index counts the shared runs, so the cost is
 * O(tokens + pairs that share a run).
 *
 * @param texts [N] the tokens of each, by one vocabulary.
 */
export function findFirstCopies(texts: readonly Int32Array[]): Int32Array {
  const copies = new Int32Array(texts.length).fill(-1);
  const sizes = new Int32Array(texts.length);
  const holders = new RunHolders();
  for (const [position, tokens] of texts.entries()) {
    const runs = holders.listRuns(hashShingles(tokens, RUN), position);
    sizes[position] = runs.length;
    copies[position] = findFirstAlike(holders.countShared(runs), runs.length, sizes);
    if (copies[position] < 0) holders.add(runs, position);
  }
  return copies;
}

/** The position of the first text that is the same as one of `size` runs, -1 if there is none. */
function findFirstAlike(shared: ReadonlyMap<number, number>, size: number, sizes: Int32Array): number {
  let first = -1;
  for (const [position, count] of shared) {
    const union = size + (sizes[position] as number) - count;
    if (count > SAME * union && (first < 0 || position < first)) first = position;
  }
  return first;
}
