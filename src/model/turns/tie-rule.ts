/** A document of a ranking. */
export interface Scored {
  readonly id: string;
  readonly score: number;
}

/** The rank of a code unit in the order of UTF-8: surrogates, which write characters of four bytes, after all others. */
const placeUnit = (unit: number) => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

/** Byte order of UTF-8, as C's strcmp has it. UTF-16 order, which `<` gives, differs from it only where surrogates meet U+E000 and above. */
export function compareBytes(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const difference = placeUnit(a.charCodeAt(i)) - placeUnit(b.charCodeAt(i));
    if (difference !== 0) return Math.sign(difference);
  }
  return Math.sign(a.length - b.length);
}

/**
 * The tie rule, trec_eval's: score descending, then id descending by bytes. Every ranking of the project is sorted by it, so that a run file and our table
 * never disagree.
 */
export function compareScored(a: Scored, b: Scored): number {
  return b.score - a.score || compareBytes(b.id, a.id);
}

/**
 * The place of each id in descending byte order: of two equal scores the one with the lower place comes first, as the tie rule says, without comparing texts in an
 * inner loop.
 *
 * @param ids [N]
 * @returns [N]
 */
export function rankIdsDescending(ids: readonly string[]): Int32Array {
  const order = Int32Array.from(ids.keys()).sort((a, b) => compareBytes(ids[b]!, ids[a]!));
  const ranks = new Int32Array(ids.length);
  for (const [rank, position] of order.entries()) ranks[position] = rank;
  return ranks;
}

/**
 * {@link rankIdsDescending} of ids of which the first have their ranks: O(N), and for each further id the logarithm of
 * N comparisons.
 *
 * @param owners [N] of the ids
 * @param ranks of the first of them
 * @returns [N]
 */
export function extendRanks(owners: readonly { readonly id: string }[], ranks: Int32Array): Int32Array {
  const order = new Int32Array(ranks.length);
  for (let position = 0; position < order.length; position++) order[ranks[position]!] = position;
  const idOf = (position: number) => (owners[position] as { readonly id: string }).id;
  const further = rankIdsDescending(owners.slice(ranks.length).map(({ id }) => id));
  /** The number of the first ids that come before each further one. */
  const before = Int32Array.from(further, (_, i) => {
    const id = idOf(ranks.length + i);
    let [low, high] = [0, order.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareBytes(idOf(order[middle]!), id) > 0) low = middle + 1;
      else high = middle;
    }
    return low;
  });
  const extended = new Int32Array(owners.length);
  const shifts = new Int32Array(order.length + 1);
  for (const place of before) shifts[place]! += 1;
  for (let rank = 0, shift = 0; rank < order.length; rank++) {
    shift += shifts[rank]!;
    extended[order[rank]!] = rank + shift;
  }
  for (const [i, rank] of further.entries()) extended[ranks.length + i] = (before[i] as number) + rank;
  return extended;
}
