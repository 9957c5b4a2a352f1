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

const RUN = 5;
/** Two texts whose runs overlap by more than this are the same text. */
const SAME = 0.8;

/**
 * For each text the position of the first one that it repeats, -1 if it repeats none: Jaccard of the sets of 5-token
 * runs over 0.8. Texts below five tokens repeat nothing. An inverted index counts the shared runs, so the cost is
 * O(tokens + pairs that share a run).
 */
export function findFirstCopies(texts: readonly string[], vocabulary: Vocabulary): Int32Array {
  const copies = new Int32Array(texts.length).fill(-1);
  const sizes = new Int32Array(texts.length);
  const holders = new Map<number, number[]>();
  for (const [position, text] of texts.entries()) {
    const runs = new Set(hashShingles(vocabulary.encode(splitIntoTokens(text)), RUN));
    sizes[position] = runs.size;
    copies[position] = findFirstAlike(runs, sizes, holders);
    if (copies[position] >= 0) continue;
    for (const run of runs) {
      const list = holders.get(run);
      if (list === undefined) holders.set(run, [position]);
      else list.push(position);
    }
  }
  return copies;
}

/** The position of the first text that is the same as the one of these runs, -1 if there is none. */
function findFirstAlike(
  runs: ReadonlySet<number>,
  sizes: Int32Array,
  holders: ReadonlyMap<number, readonly number[]>,
): number {
  const shared = new Map<number, number>();
  for (const run of runs)
    for (const position of holders.get(run) ?? []) shared.set(position, (shared.get(position) ?? 0) + 1);
  let first = -1;
  for (const [position, count] of shared) {
    const union = runs.size + (sizes[position] as number) - count;
    if (count > SAME * union && (first < 0 || position < first)) first = position;
  }
  return first;
}
