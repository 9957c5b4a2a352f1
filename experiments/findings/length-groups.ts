/** Conversations of about the same length. */
export interface LengthGroup {
  /** Messages of the shortest and the longest of them. */
  readonly least: number;
  readonly most: number;
  /** Corpus positions of each one's messages, in ring order. */
  readonly conversations: readonly Int32Array[];
}

/** The longest conversation of each group but the last, whose groups double in length. */
const BOUNDS = [1, 2, 4, 8, 16, Number.POSITIVE_INFINITY];

/** Conversations by length, shortest first, without the groups that nothing is in. */
export function groupByLength(conversations: readonly Int32Array[]): LengthGroup[] {
  return BOUNDS.flatMap((bound, i) => {
    const members = conversations.filter(({ length }) => length <= bound && length > (BOUNDS[i - 1] ?? 0));
    if (members.length === 0) return [];
    const lengths = members.map(({ length }) => length);
    return [{ least: Math.min(...lengths), most: Math.max(...lengths), conversations: members }];
  });
}

/** `2`, or `5–8`. */
export function formatLengthRange({ least, most }: LengthGroup): string {
  const [first, last] = [least, most].map((length) => length.toLocaleString('en'));
  return least === most ? `${first}` : `${first}–${last}`;
}

export function countGroupMessages({ conversations }: LengthGroup): number {
  return conversations.reduce((sum, { length }) => sum + length, 0);
}
