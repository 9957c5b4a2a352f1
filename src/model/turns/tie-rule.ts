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
    const [x, y] = [a.charCodeAt(i), b.charCodeAt(i)];
    if (x !== y) return Math.sign(placeUnit(x) - placeUnit(y));
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

/** A ranking by the tie rule: itself if it is in this order, as most are. */
export function sortByTieRule(ranking: readonly Scored[]): readonly Scored[] {
  const isSorted = ranking.every((next, i) => i === 0 || compareScored(ranking[i - 1]!, next) <= 0);
  return isSorted ? ranking : [...ranking].sort(compareScored);
}

/** An order of two places: negative if the first comes before the second, of equal scores. */
export type TieOrder = (a: number, b: number) => number;

/** The tie rule for the places of ids. */
export const createTieOrder =
  (ids: readonly string[]): TieOrder =>
  (a, b) =>
    compareBytes(ids[b]!, ids[a]!);

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
