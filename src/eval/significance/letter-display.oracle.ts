/**
 * The compact letter display by brute force: every set of items, best first, in which no pair differs and to which no further item can be added. O(2^S S^2).
 *
 * @param order the items, best first.
 */
export function listLetterGroups(order: readonly number[], differs: (a: number, b: number) => boolean): number[][] {
  const groups: number[][] = [];
  for (let bits = 1; bits < 2 ** order.length; bits++) {
    const places = order.map((_, place) => place).filter((place) => ((bits >> place) & 1) === 1);
    const fits = (place: number) =>
      places.every((other) => other === place || !differs(order[place] as number, order[other] as number));
    const isAlike = places.every(fits);
    const isWhole = order.every((_, place) => places.includes(place) || !fits(place));
    if (isAlike && isWhole) groups.push(places);
  }
  // By the places of their items: as words whose letters are places.
  const spell = (places: readonly number[]) => String.fromCharCode(...places.map((place) => 97 + place));
  groups.sort((a, b) => (spell(a) < spell(b) ? -1 : 1));
  return groups.map((places) => places.map((place) => order[place] as number));
}
