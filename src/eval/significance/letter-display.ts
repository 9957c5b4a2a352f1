/** The label of the n-th item, from 0: a to z, then aa, ab. */
export function nameLetter(index: number): string {
  const last = String.fromCharCode(97 + (index % 26));
  return index < 26 ? last : nameLetter(Math.floor(index / 26) - 1) + last;
}

/** Whether every item of one group is in the other. */
function isWithin(group: ReadonlySet<number>, other: ReadonlySet<number>): boolean {
  if (group.size > other.size) return false;
  for (const item of group) if (!other.has(item)) return false;
  return true;
}

/**
 * Splits the groups that hold both items of a pair. Only a new group can be within another one: the old groups are not within each other, and a group that is
 * split holds no other one. O(new groups x groups x items).
 */
function splitGroups(groups: readonly ReadonlySet<number>[], a: number, b: number): ReadonlySet<number>[] {
  const kept: ReadonlySet<number>[] = [];
  const split: ReadonlySet<number>[] = [];
  for (const group of groups) {
    if (!(group.has(a) && group.has(b))) kept.push(group);
    else for (const left of [a, b]) split.push(new Set([...group].filter((item) => item !== left)));
  }
  const added = split.filter(
    (group, g) =>
      !kept.some((other) => isWithin(group, other)) &&
      !split.some((other, o) => o !== g && isWithin(group, other) && (group.size < other.size || o < g)),
  );
  return [...kept, ...added];
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
  for (const [a, b] of pairs) groups = splitGroups(groups, a, b);
  const rank = new Map(order.map((item, i) => [item, i]));
  const ranks = groups.map((group) => [...group].map((item) => rank.get(item) as number).sort((a, b) => a - b));
  return ranks.sort((a, b) => compareLists(a, b)).map((group) => group.map((i) => order[i] as number));
}

function compareLists(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, i) => value !== b[i]);
  return at === -1 ? a.length - b.length : (a[at] as number) - (b[at] ?? Number.NEGATIVE_INFINITY);
}
