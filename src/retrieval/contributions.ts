import { ValidationError } from '../core/errors.ts';
import type { SignalTable } from '../signals/bank/signal-bank.ts';
import type { Column } from '../signals/candidate-pool.ts';
import type { Retrieved } from './retriever.ts';
import type { RetrieverOptions } from './retriever-options.ts';

/** Parts of the scores of N places that add up to them. */
export interface Contributions {
  /** [P] */
  readonly names: readonly string[];
  /** Row-major [N, P]; 0 for a place without a candidate. */
  readonly values: Float32Array;
}

/** The smallest normal number of float32: see `invertOrZero`. */
const SMALLEST_NORMAL = 2 ** -126;

/** float64 twin of `invertOrZero` for the largest value of a row. */
function invertMaximum(row: Float64Array): number {
  const maximum = row.reduce((a, b) => Math.max(a, b), 0);
  return maximum > SMALLEST_NORMAL ? 1 / maximum : 0;
}

/** The parts of a query's row, [C] each; with the shape of the chain in ARCHITECTURE.md, "An arm". */
function decomposeRow(
  read: (name: string) => Float64Array,
  { boosts = null, curation = null, decay, trajectory, attention }: RetrieverOptions,
): Map<string, Float64Array> {
  const parts = new Map([['relevance', read('relevance')]]);
  let score = read('relevance');
  const scale = (factor: number) => {
    for (const [name, part] of parts)
      parts.set(
        name,
        part.map((value) => value * factor),
      );
    score = score.map((value) => value * factor);
  };
  const add = (name: string, part: Float64Array) => {
    parts.set(name, part);
    score = score.map((value, i) => value + (part[i] as number));
  };
  const multiply = (name: string) => {
    const factor = read(name);
    add(
      name,
      score.map((value, i) => value * ((factor[i] as number) - 1)),
    );
  };
  if (boosts !== null) multiply('boost');
  if (curation !== null) multiply('curation');
  if (decay !== null) multiply('decay');
  if (trajectory !== null) {
    scale((1 - trajectory.weight) * invertMaximum(score));
    add(
      'trajectory',
      read('trajectory').map((value) => value * trajectory.weight),
    );
  }
  if (attention !== null) {
    scale((1 - attention.weight) * invertMaximum(score));
    const column = read('attention');
    const share = attention.weight * invertMaximum(column);
    add(
      'attention',
      column.map((value) => value * share),
    );
  }
  return parts;
}

/**
 * Splits the composed scores of an arm into parts that add up to them. With relevance r, boost b, decay factor d, weights w of trajectory t and v of attention a, and
 * the maxima of a query's candidates, the score before selection is
 *
 * `s = k r + k r (b - 1) + k r b (d - 1) + m w t + v a / max(a)`, with `k = m (1 - w) / max(r b d)` and `m = (1 - v) / max(s before attention)`.
 *
 * The five terms are relevance, boost, decay (what age takes away, never positive), trajectory and attention; a step that the arm lacks has no term, and leaves its
 * division out. The arithmetic is float64 over float32 columns, so the sum differs from the score by rounding alone.
 *
 * @param places [N] places among the pairs [Q, C] of the pool; -1 for none.
 * @throws ValidationError for an arm with `scoring`: see {@link decomposeMix}.
 */
export function decomposeChain(
  { pool, components }: Retrieved,
  options: RetrieverOptions,
  places: Int32Array,
): Contributions {
  if (options.scoring !== null)
    throw new ValidationError('arm scores by a mix of signals, not by a chain: scoring is set; use decomposeMix');
  const rows = new Map<number, Map<string, Float64Array>>();
  const decompose = (query: number) => {
    const [start, end] = [query * pool.width, (query + 1) * pool.width];
    return decomposeRow((name) => Float64Array.from((components.get(name) as Column).subarray(start, end)), options);
  };
  const chain = {
    relevance: true,
    boost: options.boosts ?? null,
    curation: options.curation ?? null,
    decay: options.decay,
    trajectory: options.trajectory,
    attention: options.attention,
  };
  const names = Object.entries(chain).flatMap(([name, step]) => (step === null ? [] : [name]));
  const values = new Float32Array(places.length * names.length);
  for (const [n, place] of places.entries()) {
    if (place < 0) continue;
    const query = Math.floor(place / pool.width);
    const parts = rows.get(query) ?? decompose(query);
    rows.set(query, parts);
    for (const [p, name] of names.entries())
      values[n * names.length + p] = parts.get(name)?.[place % pool.width] as number;
  }
  return { names, values };
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
 * @param places [N] places among the pairs [Q, C] of the table; -1 for none.
 */
export function decomposeMix(
  { signals, values: table }: SignalTable,
  weights: Readonly<Record<string, number>>,
  places: Int32Array,
): Contributions {
  const weighted = signals.flatMap((signal, column) => {
    const weight = weights[signal] ?? 0;
    return weight === 0 ? [] : [{ family: readSignalFamily(signal), column, weight: Math.fround(weight) }];
  });
  const families = [...new Set(weighted.map(({ family }) => family))];
  const sums = families.map(() => new Float64Array(places.length));
  for (const { family, column, weight } of weighted) {
    const sum = sums[families.indexOf(family)] as Float64Array;
    for (const [n, place] of places.entries())
      if (place >= 0) sum[n] = (sum[n] as number) + weight * (table[place * signals.length + column] as number);
  }
  const magnitude = (sum: Float64Array) => sum.reduce((total, value) => total + Math.abs(value), 0);
  const order = families
    .map((name, f) => ({ name, sum: sums[f] as Float64Array }))
    .sort((a, b) => magnitude(b.sum) - magnitude(a.sum));
  const values = Float32Array.from({ length: places.length * order.length }, (_, i) => {
    const [n, p] = [Math.floor(i / order.length), i % order.length];
    return order[p]?.sum[n] as number;
  });
  return { names: order.map(({ name }) => name), values };
}
