import type { SignalTable } from '../signals/bank/signal-bank.ts';

/** Parts of the scores of N places that add up to them. */
export interface Contributions {
  /** [P] */
  readonly names: readonly string[];
  /** Row-major [N, P]; 0 for a place without a candidate. */
  readonly values: Float32Array;
}

/** What a signal measures: its name without variants and contexts. A product is of both. */
export function readSignalFamily(signal: string): string {
  return signal
    .split('*')
    .map((factor) => factor.replace(/[.@].*$/, ''))
    .join(' × ');
}

/**
 * Splits weighted sums of signals by the families of the signals, greatest total magnitude first: each part is the sum of weight times signal over its family.
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
