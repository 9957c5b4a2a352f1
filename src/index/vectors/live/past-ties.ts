/** Rows that a graph found, best first. */
interface Nearest {
  readonly slots: readonly number[];
  readonly distances: readonly number[];
}

/**
 * The best k of a graph and all that tie with the last of them, so that the tie rule can choose: asks for more until the last has another distance than the
 * k-th.
 *
 * @param size how many there are.
 */
export function listSlotsPastTies(k: number, size: number, search: (wanted: number) => Nearest): readonly number[] {
  for (let wanted = Math.min(size, k + 1); ; wanted = Math.min(size, 2 * wanted)) {
    const { slots, distances } = search(wanted);
    if (slots.length < wanted || wanted === size || distances[k - 1] !== distances.at(-1)) return slots;
  }
}
