/**
 * The compact letter display by brute force: every set of items, best first, in which no pair differs and to which no further item can be added. O(2^S S^2).
 *
 * @param order the items, best first.
 */
export function listLetterGroups(order: readonly number[], differs: (a: number, b: number) => boolean): number[][] {
  const groups: number[][] = [];
  for (let bits = 1; bits < 2 ** order.length; bits++) {
    const members = order.map((_, member) => member).filter((member) => ((bits >> member) & 1) === 1);
    const fits = (member: number) =>
      members.every((other) => other === member || !differs(order[member] as number, order[other] as number));
    const isAlike = members.every(fits);
    const isWhole = order.every((_, member) => members.includes(member) || !fits(member));
    if (isAlike && isWhole) groups.push(members);
  }
  // By the places of their items: as words whose letters are places.
  const spell = (members: readonly number[]) => String.fromCharCode(...members.map((member) => 97 + member));
  groups.sort((a, b) => (spell(a) < spell(b) ? -1 : 1));
  return groups.map((members) => members.map((member) => order[member] as number));
}
