import type { CheckedRows, RingSpan } from './attention-rows.ts';
import type { RingAttentionOptions } from './options.ts';

/**
 * The values that a query may see, summed as if every key weighed e^0 = 1: what banded attention adds to the band when
 * multiplicative; nothing when additive. In float64, since float32 loses digits over 10^5 rows. Directed sums only
 * grow: a suffix taken as the whole minus a prefix would keep the prefix's rounding.
 */
export class FarField {
  /** [V] of the query moved to. */
  readonly sum: Float64Array;
  /** Keys in the sum. */
  count = 0;
  readonly #rows: CheckedRows;
  readonly #options: RingAttentionOptions;
  /** The next position that a directed query sees. */
  #next: number;
  /** The query's own position if it is subtracted from a sum over all. */
  #own: number | undefined;

  constructor(rows: CheckedRows, options: RingAttentionOptions) {
    this.sum = new Float64Array(rows.valueWidth);
    this.#rows = rows;
    this.#options = options;
    this.#next = options.direction === 'anticausal' ? rows.turns - 1 : 0;
    if (options.combine === 'multiplicative' && options.direction === 'none') this.#addAll();
  }

  /** Moves to the next query: at the same position or a later one, an earlier one when anticausal. */
  moveTo(ringPosition: number): void {
    const { combine, direction, self } = this.#options;
    if (combine === 'additive') return;
    if (direction !== 'none') {
      const step = direction === 'causal' ? 1 : -1;
      const end = self === 'include' ? ringPosition + step : ringPosition;
      for (; this.#next !== end; this.#next += step) this.#add(this.#next, 1);
    } else if (self === 'exclude') {
      if (this.#own !== undefined) this.#add(this.#own, 1);
      this.#own = ringPosition;
      this.#add(ringPosition, -1);
    }
  }

  /** Four rows at a time, one after the other: a sum is read and written once for all of them. */
  #addAll(): void {
    const { turns, values, valueWidth: width, keyMask } = this.#rows;
    const { sum } = this;
    let next = 0;
    for (; keyMask === undefined && next + 4 <= turns; next += 4)
      for (let d = 0, at = next * width; d < width; d++, at++)
        sum[d] =
          (sum[d] as number) +
          (values[at] as number) +
          (values[at + width] as number) +
          (values[at + 2 * width] as number) +
          (values[at + 3 * width] as number);
    this.count = next;
    for (; next < turns; next++) this.#add(next, 1);
  }

  #add(ringPosition: number, sign: 1 | -1): void {
    const { values, valueWidth, keyMask } = this.#rows;
    if (keyMask?.[ringPosition] === 0) return;
    const { sum } = this;
    this.count += sign;
    for (let d = 0, at = ringPosition * valueWidth; d < valueWidth; d++, at++)
      sum[d] = (sum[d] as number) + sign * (values[at] as number);
  }
}

/**
 * Blocks of at most `size` queries on as many consecutive positions, from the end when anticausal: the order in which
 * {@link FarField} moves.
 */
export function splitQueryBlocks(
  ringPositions: Int32Array,
  size: number,
  { direction }: RingAttentionOptions,
): RingSpan[] {
  const blocks: RingSpan[] = [];
  for (let first = 0, end = 0; first < ringPositions.length; first = end) {
    const beyond = (ringPositions[first] as number) + size;
    while (end < ringPositions.length && end - first < size && (ringPositions[end] as number) < beyond) end++;
    blocks.push({ first, count: end - first });
  }
  return direction === 'anticausal' ? blocks.reverse() : blocks;
}

/** The same order within a block, or of its tiles. */
export const orderLike = <T>(items: readonly T[], { direction }: RingAttentionOptions): readonly T[] =>
  direction === 'anticausal' ? items.toReversed() : items;
