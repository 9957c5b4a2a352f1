/** A document of a ranking. */
export interface Scored {
  readonly id: string;
  readonly score: number;
}

/** Byte order of UTF-8, as C's strcmp has it. UTF-16 order, which `<` gives, differs from it only where surrogates meet U+E000 and above. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
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
