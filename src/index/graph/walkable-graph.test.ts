import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { ConceptGraph, type GraphMemory } from './concept-graph.ts';
import { drawGraphMemories, WEIGHT_OF_KIND } from './graph-memories.fixture.ts';
import { GraphMoment } from './graph-moment.ts';
import { MomentScorer } from './moment-scoring.ts';
import { buildWalkableGraph, type EdgeWeights, type WalkableGraph } from './walkable-graph.ts';

const N = 131;
const SCORINGS = ['pagerank', 'hop-decay', 'degree'] as const;
const OPTIONS = { damping: 0.5, tolerance: 1e-9, decay: 0.6, maxHops: 3 };

function buildAtOnce(memories: readonly GraphMemory[], weights: EdgeWeights): WalkableGraph {
  const graph = new ConceptGraph();
  graph.insert(memories);
  return buildWalkableGraph(graph, weights);
}

/** Times, names and entries of a graph, node by node. */
function describeGraph({ adjacency, memoryNodes, memoryOf, conceptNodes }: WalkableGraph) {
  const { offsets, neighbours, times, weights, mentions, nodeTimes } = adjacency;
  const rows = Array.from(nodeTimes, (_, node) => {
    const [begin, end] = [offsets[node]!, adjacency.findEnd(node, Number.POSITIVE_INFINITY)];
    return [neighbours, times, weights, mentions].map((numbers) => [...numbers.subarray(begin, end)]);
  });
  return { nodeTimes, memoryNodes, memoryOf, concepts: [...conceptNodes], rows };
}

/** Sums by node at a moment, and the scores around some seeds. */
function walkAt({ adjacency }: WalkableGraph, size: number, asOf: number, seeds: ReadonlyMap<number, number>) {
  const nodes = Array.from({ length: size }, (_, node) => node);
  const sums = nodes.map((node) => [adjacency.sumWeights(node, asOf), adjacency.countMentions(node, asOf)]);
  const scorer = new MomentScorer(adjacency.size);
  const scores = SCORINGS.map((scoring) =>
    [false, true].map((scalesMentions) => {
      const found = scorer.score(new GraphMoment(adjacency, { asOf, scalesMentions }), seeds, { ...OPTIONS, scoring });
      return found.nodes.map((node) => [node, found.values[node]]);
    }),
  );
  return { sums, scores };
}

describe.each([
  ['all kinds of edges', WEIGHT_OF_KIND],
  ['some kinds', { ...WEIGHT_OF_KIND, next: 0, alias: 0, names: 0 }],
])('a graph of %s', (_, weights) => {
  test.each([2, 3, 5])('that grew by batches is the one that is built at once (seed %i)', (seed) => {
    const source = createRandom(seed, 'batches');
    const memories = drawGraphMemories(seed, N);
    const graph = new ConceptGraph();
    const grown = buildWalkableGraph(graph, weights);
    while (graph.size < N) {
      const end = Math.min(N, graph.size + source.integer(23));
      graph.insert(memories.slice(graph.size, end));
      grown.grow();
      const whole = buildAtOnce(memories.slice(0, end), weights);
      expect(describeGraph(grown)).toEqual(describeGraph(whole));
      const { size } = whole.adjacency;
      if (size === 0) continue;
      const [asOf, seeds] = [
        source.integer(end + 1),
        new Map([
          [source.integer(size), 1],
          [source.integer(size), 0.25],
        ]),
      ];
      expect(walkAt(grown, size, asOf, seeds)).toEqual(walkAt(whole, size, asOf, seeds));
    }
  });
});

test('later memories leave an earlier moment as it was', () => {
  const memories = drawGraphMemories(7, N);
  const graph = new ConceptGraph();
  graph.insert(memories.slice(0, 59));
  const grown = buildWalkableGraph(graph, WEIGHT_OF_KIND);
  const { size } = grown.adjacency;
  const seeds = new Map([[3, 1]]);
  const before = walkAt(grown, size, 59, seeds);
  expect(before.scores.flat().every((found) => found.length > 3)).toBe(true);
  graph.insert(memories.slice(59));
  expect(walkAt(grown.grow(), size, 59, seeds)).toEqual(before);
  expect(walkAt(grown, size, N, seeds)).not.toEqual(before);
});
