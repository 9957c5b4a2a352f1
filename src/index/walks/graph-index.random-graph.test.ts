import { describe, expect, test } from 'vitest';
import { ConceptGraph } from '../graph/concept-graph.ts';
import { drawGraphMemories, WEIGHT_OF_KIND } from '../graph/graph-memories.fixture.ts';
import type { KindedEdges } from '../graph/temporal-adjacency.ts';
import { buildWalkableGraph } from '../graph/walkable-graph.ts';
import { permuteTargets, shuffleTitles } from './graph-index.ts';

const [N, CUTOFF] = [71, 44];
const memories = drawGraphMemories(5, N);
const every = { ...WEIGHT_OF_KIND, alias: 0 };

function readEdges(count: number): KindedEdges {
  const graph = new ConceptGraph();
  graph.insert(memories.slice(0, count));
  let edges: KindedEdges | undefined;
  buildWalkableGraph(graph, every, (given) => {
    edges = given;
    return given;
  });
  return edges as KindedEdges;
}

/** How many edges of each kind begin and end at each node before a moment. */
function countEnds({ kinds, sources, targets, times }: KindedEdges): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [edge, kind] of kinds.entries())
    for (const end of times[edge]! < CUTOFF ? [`from ${sources[edge]}`, `to ${targets[edge]}`] : [])
      counts[`${kind} ${end}`] = (counts[`${kind} ${end}`] ?? 0) + 1;
  return counts;
}

describe('a random graph', () => {
  test('leaves each node its edges of each kind, and gives most edges another end', () => {
    const edges = readEdges(N);
    const drawn = permuteTargets(edges, CUTOFF, 1);
    expect(countEnds(drawn)).toEqual(countEnds(edges));
    expect(new Set(drawn.kinds).size).toBe(7);
    const present = [...edges.times.keys()].filter((edge) => edges.times[edge]! < CUTOFF);
    expect(drawn.sources).toHaveLength(present.length);
    const moved = present.filter((edge, i) => edges.targets[edge] !== drawn.targets[i]);
    expect(moved.length / present.length).toBeGreaterThan(0.7);
  });

  test('does not depend on later memories, and depends on its seed', () => {
    const { nodeTimes: _, ...whole } = permuteTargets(readEdges(N), CUTOFF, 1);
    const { nodeTimes: __, ...before } = permuteTargets(readEdges(CUTOFF), CUTOFF, 1);
    expect(whole).toEqual(before);
    expect(permuteTargets(readEdges(N), CUTOFF, 2).targets).not.toEqual(whole.targets);
  });
});

test('shuffled titles are those of a moment, and stay where there are titles', () => {
  const titles = Array.from({ length: 40 }, (_, i) => (i % 3 === 0 ? null : `title ${i}`));
  const shuffled = shuffleTitles(titles, 30, 1);
  expect([...shuffled].sort()).toEqual(titles.slice(0, 30).sort());
  expect(shuffled.map((title) => title === null)).toEqual(titles.slice(0, 30).map((title) => title === null));
  expect(shuffled.filter((title, i) => title !== titles[i]).length).toBeGreaterThan(10);
  expect(shuffleTitles(titles.slice(0, 30), 30, 1)).toEqual(shuffled);
  expect(shuffleTitles(titles, 30, 2)).not.toEqual(shuffled);
});
