import type { FeatureTable } from '../../src/rank/learning/feature-table.ts';

/** The ranks of values from 1 for the least, equal ones with their mean rank, divided by their number. */
export function rankValues(values: ArrayLike<number>): Float64Array {
  const order = Array.from(values, (_, i) => i).sort((a, b) => (values[a] as number) - (values[b] as number));
  const ranks = new Float64Array(values.length);
  for (let start = 0, end = 0; start < order.length; start = end) {
    while (end < order.length && values[order[end] as number] === values[order[start] as number]) end++;
    for (const i of order.slice(start, end)) ranks[i] = (start + end + 1) / 2 / order.length;
  }
  return ranks;
}

/** A table whose signals are {@link rankValues ranks} among the candidates of each question, in (0, 1]. */
export function rankSignals(table: FeatureTable): FeatureTable {
  const { width, mask } = table;
  const count = table.signals.length;
  const values = table.values.slice();
  for (let query = 0; query < table.queryIds.length; query++) {
    const pairs = Array.from({ length: width }, (_, slot) => query * width + slot).filter((pair) => mask[pair] === 1);
    for (let f = 0; f < count; f++) {
      const ranks = rankValues(pairs.map((pair) => table.values[pair * count + f] as number));
      for (const [i, pair] of pairs.entries()) values[pair * count + f] = ranks[i] as number;
    }
  }
  return { ...table, values };
}
