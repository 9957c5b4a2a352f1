/** The label of the n-th item, from 0: a to z, then aa, ab. */
export function nameLetter(index: number): string {
  const last = String.fromCharCode(97 + (index % 26));
  return index < 26 ? last : nameLetter(Math.floor(index / 26) - 1) + last;
}

/** Whether every item of one group is in the other. */
function isWithin(group: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  return [...group].every((item) => other.has(item));
}

/** Each group once, and none that another one holds. */
function absorbGroups(groups: readonly ReadonlySet<number>[]): ReadonlySet<number>[] {
  return groups.filter(
    (group, g) => !groups.some((other, o) => o !== g && isWithin(group, other) && (group.size < other.size || o < g)),
  );
}

/**
 * Compact letter display: groups of items such that two items share a group exactly if they do not differ. Insert and absorb: one group of all items is
 * split at each pair that differs, and groups within others are dropped. Source: piepho2004letters.
 *
 * @param order the items, best first; groups are in the order of their best members.
 * @param pairs that differ.
 * @returns the items of each group, in the given order.
 */
export function groupByLetters(order: readonly number[], pairs: readonly (readonly [number, number])[]): number[][] {
  let groups: ReadonlySet<number>[] = [new Set(order)];
  for (const [a, b] of pairs) {
    const split = groups.flatMap((group) =>
      group.has(a) && group.has(b)
        ? [a, b].map((left) => new Set([...group].filter((item) => item !== left)))
        : [group],
    );
    groups = absorbGroups(split);
  }
  const rank = new Map(order.map((item, place) => [item, place]));
  const places = groups.map((group) => [...group].map((item) => rank.get(item) as number).sort((a, b) => a - b));
  return places.sort((a, b) => compareLists(a, b)).map((group) => group.map((place) => order[place] as number));
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at === -1 ? a.length - b.length : (a[at] as number) - (b[at] ?? Number.NEGATIVE_INFINITY);
}
