import { createRandom } from '../../core/numbers/random.ts';
import type { KindedEdges } from './temporal-adjacency.ts';

/**
 * Null control `random-graph`: the edges that exist at a moment exchange their targets at random, those of each kind among themselves (the configuration model, in
 * which an edge may join a node with itself, and two edges the same nodes). Each node keeps the number of its edges of each kind, at the sources and at the
 * targets. Later edges are left out and affect nothing.
 */
export function permuteTargets(edges: KindedEdges, asOf: number, seed: number): KindedEdges {
  const present = Array.from(edges.times.keys()).filter((edge) => edges.times[edge]! < asOf);
  const targetOf = new Int32Array(edges.targets);
  for (const kind of new Set(present.map((edge) => edges.kinds[edge]!))) {
    const members = present.filter((edge) => edges.kinds[edge] === kind);
    const drawn = createRandom(seed, `random-graph/${kind}/${asOf}`).shuffle([...members]);
    for (const [i, edge] of members.entries()) targetOf[edge] = edges.targets[drawn[i]!]!;
  }
  const pick = <T extends Int32Array | Float64Array | Uint8Array>(values: T): T =>
    values.filter((_, edge) => edges.times[edge]! < asOf) as T;
  return {
    nodeTimes: edges.nodeTimes,
    sources: pick(edges.sources),
    targets: pick(targetOf),
    weights: pick(edges.weights),
    ...(edges.reverseWeights && { reverseWeights: pick(edges.reverseWeights) }),
    times: pick(edges.times),
    isMention: pick(edges.isMention),
    ...(edges.isAlias && { isAlias: pick(edges.isAlias) }),
    kinds: present.map((edge) => edges.kinds[edge]!),
  };
}

/** Null control `shuffled-titles`: the titles that there are at a moment, exchanged at random among the memories that have one. @param titles [memories], null for none. */
export function shuffleTitles(titles: readonly (string | null)[], asOf: number, seed: number): (string | null)[] {
  const present = titles.slice(0, asOf);
  const titled = Array.from(present.keys()).filter((memory) => present[memory] !== null);
  const drawn = createRandom(seed, `shuffled-titles/${asOf}`).shuffle([...titled]);
  const shuffled = [...present];
  for (const [i, memory] of titled.entries()) shuffled[memory] = present[drawn[i]!]!;
  return shuffled;
}
