import type { CheckedRows } from './attention-rows.ts';
import type { RingAttentionOptions } from './options.ts';

/**
 * The values that a query may see, summed as if every key weighed e^0 = 1: what banded attention adds to the band when multiplicative; nothing when additive. In
 * float64, since float32 loses digits over 10^5 rows. Directed sums only grow: a suffix taken as the whole minus a prefix would keep the prefix's rounding.
 */
export class FarField {
  /** [V] of the query moved to. */
  readonly sum: Float64Array;
  readonly #rows: CheckedRows;
  readonly #options: RingAttentionOptions;
  #current: number | undefined;

  constructor(rows: CheckedRows, options: RingAttentionOptions) {
    this.sum = new Float64Array(rows.valueWidth);
    this.#rows = rows;
    this.#options = options;
    if (options.combine === 'multiplicative' && options.direction === 'none')
      for (let row = 0; row < rows.turns; row++) this.#add(row, 1);
  }

  /** Moves to the next query: one place up, one place down when anticausal. */
  moveTo(row: number): void {
    const { combine, direction, self } = this.#options;
    if (combine === 'additive') return;
    const previous = this.#current;
    this.#current = row;
    if (self === 'include') {
      if (direction !== 'none') this.#add(row, 1);
      return;
    }
    if (previous !== undefined) this.#add(previous, 1);
    if (direction === 'none') this.#add(row, -1);
  }

  #add(row: number, sign: 1 | -1): void {
    const { values, valueWidth } = this.#rows;
    const { sum } = this;
    for (let d = 0, at = row * valueWidth; d < valueWidth; d++, at++)
      sum[d] = (sum[d] as number) + sign * (values[at] as number);
  }
}

/** How many keys a query may see. */
export function admissibleCount(row: number, turns: number, { direction, self }: RingAttentionOptions): number {
  const seen = direction === 'none' ? turns : direction === 'causal' ? row + 1 : turns - row;
  return self === 'include' ? seen : seen - 1;
}
