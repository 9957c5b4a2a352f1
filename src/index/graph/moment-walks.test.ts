import { expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { ConceptGraph } from './concept-graph.ts';
import { drawGraphMemories, WEIGHT_OF_KIND } from './graph-memories.fixture.ts';
import { GraphMoment } from './graph-moment.ts';
import { gatherMomentWalks, groupByMoment, type MomentWalks, markDangling, readIncoming } from './moment-walks.ts';
import { buildWalkableGraph } from './walkable-graph.ts';

const N = 83;
const graph = new ConceptGraph();
graph.insert(drawGraphMemories(5, N));
const { adjacency, memoryOf, memoryNodes } = buildWalkableGraph(graph, WEIGHT_OF_KIND);
const source = createRandom(5, 'moment-walks');
const isVisible = Uint8Array.from({ length: N }, () => (source.uniform() < 0.5 ? 1 : 0));
const MOMENTS = [
  new GraphMoment(adjacency, { asOf: 19 }),
  new GraphMoment(adjacency, { asOf: N, visible: { isVisible, memoryOf }, scalesMentions: true }),
  new GraphMoment(adjacency, { asOf: 61, scalesMentions: true }),
];
const DAMPING = 0.85;
/** A seed that no edge touches at the first moment has a position too. */
const starts = [
  [
    { node: memoryNodes[7]!, share: 0.25 },
    { node: memoryNodes[2]!, share: 0.75 },
  ],
  [{ node: 0, share: 1 }],
];

/** The probabilities of a moment, `source -> target`, summed over parallel edges; written from the definition. */
function listExpected(moment: GraphMoment): Record<string, number> {
  const steps: Record<string, number> = {};
  for (let node = 0; node < adjacency.size; node++) {
    if (!moment.has(node)) continue;
    const reached: [number, number][] = [];
    moment.forEachNeighbour(node, (neighbour, weight) => reached.push([neighbour, weight]));
    const total = reached.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [neighbour, weight] of total === 0 ? [] : reached) {
      const name = `${node} -> ${neighbour}`;
      steps[name] = (steps[name] ?? 0) + (DAMPING * weight) / total;
    }
  }
  return steps;
}

function listGathered(walks: MomentWalks, moment: number): Record<string, number> {
  const steps: Record<string, number> = {};
  for (const [position, node] of walks.nodes.entries())
    for (let edge = walks.offsets[position]!; edge < walks.offsets[position + 1]!; edge++) {
      const probability = walks.probabilities[edge * walks.moments + moment]!;
      const name = `${walks.nodes[walks.sources[edge]!]} -> ${node}`;
      if (probability > 0) steps[name] = (steps[name] ?? 0) + probability;
    }
  return steps;
}

test.each([[[0]], [[1]], [[2]], [[0, 1, 2]]])('the walks of moments %j have their steps, and no other', (chosen) => {
  const moments = chosen.map((moment) => MOMENTS[moment]!);
  const walks = gatherMomentWalks(moments, starts, DAMPING);
  for (const [i, moment] of moments.entries()) {
    const [got, expected] = [listGathered(walks, i), listExpected(moment)];
    expect(Object.keys(got).sort()).toEqual(
      Object.keys(expected)
        .filter((step) => expected[step]! > 0)
        .sort(),
    );
    for (const [step, probability] of Object.entries(expected))
      expect(got[step] ?? 0, step).toBeCloseTo(probability, 12);
  }
  expect(new Set(walks.nodes).size).toBe(walks.nodes.length);
  expect(walks.seeds.map(({ positions }) => [...positions].map((position) => walks.nodes[position]))).toEqual(
    starts.map((shares) => expect.arrayContaining(shares.map(({ node }) => node))),
  );
  expect(walks.seeds.every(({ positions }) => positions.every((at, i) => i === 0 || at > positions[i - 1]!))).toBe(
    true,
  );
});

test('the nodes are those of an edge or a seed, and what no edge leaves is dangling', () => {
  const [lone] = MOMENTS as [GraphMoment];
  const late = memoryNodes[70]!; // not there at the moment
  const walks = gatherMomentWalks([lone], [[{ node: late, share: 1 }]], DAMPING);
  expect(walks.nodes.at(-1)).toBe(late);
  expect(markDangling(walks).lastIndexOf(1)).toBe(walks.nodes.length - 1);
  expect(markDangling(walks).indexOf(1)).toBe(walks.nodes.length - 1);
  expect(walks.nodes.length).toBeLessThan(adjacency.size);
  const { rows, offsets, columnOf, values } = readIncoming(walks);
  expect([rows, offsets.at(-1), columnOf.length]).toEqual([walks.nodes.length, values.length, values.length]);
});

test('queries are grouped by the moment that they share', () => {
  const [a, b] = MOMENTS as [GraphMoment, GraphMoment];
  const started = [a, b, a].map((moment, query) => ({ query, moment, shares: [] }));
  expect([...groupByMoment(started).values()].map((members) => members.map(({ query }) => query))).toEqual([
    [0, 2],
    [1],
  ]);
});
