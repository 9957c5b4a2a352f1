/** A graph written out for tests: an edge is [source, target, weight]. */
export interface HandmadeGraph {
  readonly directed: boolean;
  readonly nodes: readonly string[];
  readonly edges: readonly (readonly [string, string, number])[];
}

/**
 * Personalised PageRank by Gaussian elimination in float64, of (I - d Pᵀ - d s aᵀ) r = (1 - d) s, where a is 1 at the nodes that no weight leaves and s sums to 1.
 * Written from the formula, for comparison.
 *
 * @returns the score of every node.
 */
export function exactPageRank(
  graph: HandmadeGraph,
  seeds: ReadonlyMap<string, number>,
  d: number,
): Map<string, number> {
  const { nodes, edges, directed } = graph;
  const n = nodes.length;
  const weight = nodes.map(() => Array<number>(n).fill(0));
  for (const [source, target, w] of edges) {
    const [i, j] = [nodes.indexOf(source), nodes.indexOf(target)];
    weight[i]![j]! += w;
    if (!directed && i !== j) weight[j]![i]! += w;
  }
  const out = weight.map((row) => row.reduce((a, b) => a + b, 0));
  const total = [...seeds.values()].reduce((a, b) => a + b, 0);
  const s = nodes.map((id) => (seeds.get(id) ?? 0) / total);
  const system = nodes.map((_, j) =>
    nodes.map((_, i) => {
      const step = out[i] === 0 ? s[j]! : weight[i]![j]! / out[i]!;
      return (i === j ? 1 : 0) - d * step;
    }),
  );
  const right = s.map((share) => (1 - d) * share);
  const scores = eliminate(system, right);
  return new Map(nodes.map((id, i) => [id, scores[i]!]));
}

/** Solves a x = b with row pivots; both are overwritten. */
function eliminate(a: number[][], b: number[]): number[] {
  const n = b.length;
  for (let column = 0; column < n; column++) {
    let pivot = column;
    for (let row = column + 1; row < n; row++) {
      if (Math.abs(a[row]![column]!) > Math.abs(a[pivot]![column]!)) pivot = row;
    }
    [a[column], a[pivot]] = [a[pivot]!, a[column]!];
    [b[column], b[pivot]] = [b[pivot]!, b[column]!];
    for (let row = column + 1; row < n; row++) {
      const factor = a[row]![column]! / a[column]![column]!;
      for (let k = column; k < n; k++) a[row]![k]! -= factor * a[column]![k]!;
      b[row]! -= factor * b[column]!;
    }
  }
  for (let row = n - 1; row >= 0; row--) {
    for (let k = row + 1; k < n; k++) b[row]! -= a[row]![k]! * b[k]!;
    b[row]! /= a[row]![row]!;
  }
  return b;
}
