import type { SignalTable } from '../../signals/bank/signal-bank.ts';

/** Parts of the scores of N places that add up to them. */
export interface Contributions {
  /** [P] */
  readonly names: readonly string[];
  /** Row-major [N, P]; 0 for a place without a candidate. */
  readonly values: Float32Array;
}

/** The measure of a signal: its name without variants and contexts. A product is of both. */
export function readSignalFamily(signal: string): string {
  return signal
    .split('*')
    .map((factor) => factor.replace(/[.@].*$/, ''))
    .join(' × ');
}

/**
 * Splits weighted sums of signals by the families of the signals, greatest total magnitude first: each part is the sum
 * of weight times signal over its family.
 *
 * @param pairs [N] among those of the table, [Q, C]; -1 for none.
 */
export function decomposeMix(
  { signals, values: table }: SignalTable,
  weights: Readonly<Record<string, number>>,
  pairs: Int32Array,
): Contributions {
  const weighted = signals.flatMap((signal, column) => {
    const weight = weights[signal] ?? 0;
    return weight === 0 ? [] : [{ family: readSignalFamily(signal), column, weight: Math.fround(weight) }];
  });
  const families = [...new Set(weighted.map(({ family }) => family))];
  const sums = families.map(() => new Float64Array(pairs.length));
  for (const { family, column, weight } of weighted) {
    const sum = sums[families.indexOf(family)] as Float64Array;
    for (const [n, pair] of pairs.entries())
      if (pair >= 0) sum[n] = (sum[n] as number) + weight * (table[pair * signals.length + column] as number);
  }
  const magnitude = (sum: Float64Array) => sum.reduce((total, value) => total + Math.abs(value), 0);
  const order = families
    .map((name, f) => ({ name, sum: sums[f] as Float64Array }))
    .sort((a, b) => magnitude(b.sum) - magnitude(a.sum));
  const values = Float32Array.from({ length: pairs.length * order.length }, (_, i) => {
    const [n, p] = [Math.floor(i / order.length), i % order.length];
    return order[p]?.sum[n] as number;
  });
  return { names: order.map(({ name }) => name), values };
}

/** The smallest normal number of float32: see `invertOrZero`. */
const SMALLEST_NORMAL = 2 ** -126;

/** float64 twin of `invertOrZero` for the largest value of a row. */
function invertMaximum(row: Float64Array): number {
  const maximum = row.reduce((a, b) => Math.max(a, b), 0);
  return maximum > SMALLEST_NORMAL ? 1 / maximum : 0;
}

/**
 * The scores of one query, step by step, and the parts that they are the sum of at some of its slots. Each step of an
 * arm says what it did to them: it starts them, multiplies them by a column, or adds a column to a share of them. The
 * arithmetic is float64 over float32 columns.
 */
export class ScoreParts {
  /** By name, [slots] each. */
  readonly parts = new Map<string, Float64Array>();
  readonly #read: (component: string) => Float64Array;
  readonly #slots: readonly number[];
  readonly #mix: Contributions | null;
  #scores: Float64Array = new Float64Array(0);

  /**
   * @param read the row [C] of a component.
   * @param slots within the row.
   * @param mix the parts of a weighted sum of signals at these slots; null without one.
   */
  constructor(read: (component: string) => Float64Array, slots: readonly number[], mix: Contributions | null) {
    this.#read = read;
    this.#slots = slots;
    this.#mix = mix;
  }

  /** The scores are a component. */
  start(component: string): void {
    this.#scores = this.#read(component);
    this.parts.set(component, this.#at(this.#scores));
  }

  /** The scores are a weighted sum of signals; its parts are those of their families. */
  startMix(): void {
    this.#scores = this.#read('scoring');
    const { names, values } = this.#mix as Contributions;
    for (const [p, name] of names.entries())
      this.parts.set(
        name,
        Float64Array.from(this.#slots, (_, n) => values[n * names.length + p] as number),
      );
  }

  /** The scores are multiplied by a component: its part is what that adds, less than 0 where it takes away. */
  multiply(component: string): void {
    const factors = this.#read(component);
    this.#add(
      component,
      this.#scores.map((score, i) => score * ((factors[i] as number) - 1)),
    );
  }

  /**
   * `(1 - weight) scores / max(scores) + weight component`, the component divided by its own maximum where that is
   * asked for.
   */
  blend(component: string, weight: number, dividesByMaximum: boolean): void {
    const factor = (1 - weight) * invertMaximum(this.#scores);
    for (const [name, part] of this.parts)
      this.parts.set(
        name,
        part.map((value) => value * factor),
      );
    this.#scores = this.#scores.map((score) => score * factor);
    const column = this.#read(component);
    const share = dividesByMaximum ? weight * invertMaximum(column) : weight;
    this.#add(
      component,
      column.map((value) => value * share),
    );
  }

  /** A component is added to the scores. */
  add(component: string): void {
    this.#add(component, this.#read(component));
  }

  #add(name: string, row: Float64Array): void {
    this.parts.set(name, this.#at(row));
    this.#scores = this.#scores.map((score, i) => score + (row[i] as number));
  }

  #at(row: Float64Array): Float64Array {
    return Float64Array.from(this.#slots, (slot) => row[slot] as number);
  }
}
