import { shinglesOf, tokensOf, type Vocabulary } from './shingles.ts';

const RUN = 5;
/** Two texts whose runs overlap by more than this are the same text. */
const SAME = 0.8;

/**
 * For each text the place of the first one that it repeats, -1 if it repeats none: Jaccard of the sets of 5-token runs over 0.8. Texts below five tokens
 * repeat nothing. An inverted index counts the shared runs, so the cost is O(tokens + pairs that share a run).
 */
export function firstCopies(texts: readonly string[], vocabulary: Vocabulary): Int32Array {
  const copies = new Int32Array(texts.length).fill(-1);
  const sizes = new Int32Array(texts.length);
  const holders = new Map<number, number[]>();
  for (const [place, text] of texts.entries()) {
    const runs = new Set(shinglesOf(vocabulary.encode(tokensOf(text)), RUN));
    sizes[place] = runs.size;
    copies[place] = firstAlike(runs, sizes, holders);
    if (copies[place] >= 0) continue;
    for (const run of runs) {
      const list = holders.get(run);
      if (list === undefined) holders.set(run, [place]);
      else list.push(place);
    }
  }
  return copies;
}

/** The first place whose text is the same as the one of these runs, -1 if there is none. */
function firstAlike(
  runs: ReadonlySet<number>,
  sizes: Int32Array,
  holders: ReadonlyMap<number, readonly number[]>,
): number {
  const shared = new Map<number, number>();
  for (const run of runs) for (const place of holders.get(run) ?? []) shared.set(place, (shared.get(place) ?? 0) + 1);
  let first = -1;
  for (const [place, count] of shared) {
    const union = runs.size + (sizes[place] as number) - count;
    if (count > SAME * union && (first < 0 || place < first)) first = place;
  }
  return first;
}
