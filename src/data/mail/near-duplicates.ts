import { hashShingles, splitIntoTokens, type Vocabulary } from './shingles.ts';

const RUN = 5;
/** Two texts whose runs overlap by more than this are the same text. */
const SAME = 0.8;

/**
 * For each text the position of the first one that it repeats, -1 if it repeats none: Jaccard of the sets of 5-token runs over 0.8. Texts below five tokens
 * repeat nothing. An inverted index counts the shared runs, so the cost is O(tokens + pairs that share a run).
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
