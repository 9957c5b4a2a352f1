import type { ScoringOptions } from '../signals/bank/options.ts';
import type { Column } from '../signals/candidate-pool.ts';
import type { Workspace } from '../signals/workspace.ts';
import type { Arm } from './arm.ts';
import type { Retrieved } from './retriever.ts';
import { type Contributions, decomposeMix, ScoreParts } from './steps/score-parts.ts';

/** The places of each query among N, by their places in the list. */
function groupByQuery(pairs: Int32Array, width: number): Map<number, number[]> {
  const groups = new Map<number, number[]>();
  for (const [n, pair] of pairs.entries()) {
    if (pair < 0) continue;
    const query = Math.floor(pair / width);
    const group = groups.get(query) ?? [];
    group.push(n);
    groups.set(query, group);
  }
  return groups;
}

/** Some rows of contributions. */
function pickRows({ names, values }: Contributions, rows: readonly number[]): Contributions {
  const P = names.length;
  const picked = new Float32Array(rows.length * P);
  for (const [n, row] of rows.entries()) picked.set(values.subarray(row * P, (row + 1) * P), n * P);
  return { names, values: picked };
}

/**
 * Splits the composed scores of an arm into parts that add up to them, as its steps explain them. With relevance r, boost b, decay factor d, weights w of
 * trajectory t and v of attention a, and the maxima of a query's candidates, the score before selection is
 *
 * `s = k r + k r (b - 1) + k r b (d - 1) + m w t + v a / max(a)`, with `k = m (1 - w) / max(r b d)` and `m = (1 - v) / max(s before attention)`.
 *
 * The five terms are relevance, boost, decay (what age takes away, never positive), trajectory and attention; a step that the arm lacks has no term, and leaves its
 * division out. In the place of relevance, a mix has a part for each family of its signals. The arithmetic is float64 over float32 columns, so the sum differs from the
 * score by rounding alone.
 *
 * @param workspace the one that the arm retrieved from.
 * @param pairs [N] among those of the pool, [Q, C]; -1 for none.
 */
export async function decomposeScores(
  workspace: Pick<Workspace, 'under'>,
  { steps, control }: Arm,
  { pool, components }: Retrieved,
  pairs: Int32Array,
): Promise<Contributions> {
  const mixed = steps.find(({ mix }) => mix !== null)?.mix ?? null;
  const readTable = async ({ signals }: ScoringOptions) => {
    const { signalTable } = await import('../signals/bank/signal-bank.ts');
    return workspace.under(control).get(signalTable(signals), pool);
  };
  const mix = mixed === null ? null : decomposeMix(await readTable(mixed), mixed.weights, pairs);
  const explain = (query: number, rows: readonly number[]) => {
    const [start, end] = [query * pool.width, (query + 1) * pool.width];
    const read = (name: string) => Float64Array.from((components.get(name) as Column).subarray(start, end));
    const parts = new ScoreParts(
      read,
      rows.map((n) => (pairs[n] as number) % pool.width),
      mix && pickRows(mix, rows),
    );
    for (const step of steps) step.explain(parts);
    return parts.parts;
  };
  const explained = Array.from(groupByQuery(pairs, pool.width), ([query, rows]) => ({
    rows,
    parts: explain(query, rows),
  }));
  const names = [...(explained[0]?.parts.keys() ?? mix?.names ?? [])];
  const values = new Float32Array(pairs.length * names.length);
  for (const { rows, parts } of explained)
    for (const [p, name] of names.entries())
      for (const [i, n] of rows.entries()) values[n * names.length + p] = parts.get(name)?.[i] as number;
  return { names, values };
}
