import { describe, expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { HostPageRank } from '../../ops/pagerank/host-pagerank.ts';
import { buildTransitionsFromEdges } from '../../ops/pagerank/transition-matrix.ts';
import { ConceptGraph, EDGE_KINDS, type EdgeKind, type GraphMemory } from './concept-graph.ts';
import { drawGraphMemories, WEIGHT_OF_KIND as every } from './graph-memories.fixture.ts';
import { GraphMoment, type MomentOptions } from './graph-moment.ts';
import { type GraphScoringOptions, MomentScorer } from './moment-scoring.ts';
import type { TemporalAdjacency } from './temporal-adjacency.ts';
import { buildWalkableGraph, type EdgeWeights, type WalkableGraph } from './walkable-graph.ts';

const SCORINGS = ['pagerank', 'hop-decay', 'degree'] as const;
const OPTIONS: Omit<GraphScoringOptions, 'scoring'> = { damping: 0.5, tolerance: 1e-14, decay: 0.6, maxHops: 2 };
const [N, CUTOFF] = [83, 47];
const memories = drawGraphMemories(11, N);
const weighEach: EdgeWeights = {
  mentions: 1,
  alias: 1,
  cooccurrence: 1,
  relation: 1,
  reply: 1,
  next: 1,
  names: 1,
  namedBy: 1,
  similar: 0,
};
const weighAlone = (kind: EdgeKind): EdgeWeights => ({
  ...(Object.fromEntries(EDGE_KINDS.map((other) => [other, 0])) as Record<EdgeKind, number>),
  [kind]: 1,
  namedBy: kind === 'names' ? 1 : 0,
});

function buildWalkable(given: readonly GraphMemory[], weights: EdgeWeights): WalkableGraph {
  const graph = new ConceptGraph();
  graph.insert(given);
  return buildWalkableGraph(graph, weights);
}

/** Scores of memories by id, and of concepts by name, from seeds by id or name. */
function scoreByName(
  { adjacency, memoryNodes, conceptNodes }: WalkableGraph,
  given: readonly GraphMemory[],
  seeds: ReadonlyMap<string, number>,
  scoring: GraphScoringOptions['scoring'],
  moment: MomentOptions,
): Map<string, number> {
  const names = new Map<number, string>([
    ...given.map(({ id }, number) => [memoryNodes[number] as number, id] as const),
    ...Array.from(conceptNodes, ([name, node]) => [node, name] as const),
  ]);
  const nodes = new Map(Array.from(names, ([node, name]) => [name, node]));
  const placed = new Map(
    [...seeds].filter(([name]) => nodes.has(name)).map(([name, weight]) => [nodes.get(name) as number, weight]),
  );
  const found = new MomentScorer(adjacency.size).score(new GraphMoment(adjacency, moment), placed, {
    ...OPTIONS,
    scoring,
  });
  return new Map(found.nodes.map((node) => [names.get(node) as string, found.values[node] as number]));
}

const seeds = new Map([
  ...[3, 11, 17, 23, 31, 37].map((number) => [memories[number]?.id as string, 1 / number] as const),
  [memories[CUTOFF + 2]?.id as string, 0.7],
  ['concept rome', 0.3],
  ['concept zama', 0.2],
]);

describe.each(SCORINGS)('%s', (scoring) => {
  describe.each([...EDGE_KINDS, 'every kind'] as const)('over edges of %s', (kind) => {
    const weights = kind === 'every kind' ? every : weighAlone(kind);

    test.each([false, true])('is not changed by future memories (mentions scaled: %s)', (scalesMentions) => {
      const moment = { asOf: CUTOFF, scalesMentions };
      const past = memories.slice(0, CUTOFF);
      const before = scoreByName(buildWalkable(past, weights), past, seeds, scoring, moment);
      const after = scoreByName(buildWalkable(memories, weights), memories, seeds, scoring, moment);
      expect(after).toEqual(before);
      expect([...before].filter(([, score]) => score > 0).length).toBeGreaterThan(2);
    });
  });

  test('sees hidden memories as if they had never been, nor what they brought', () => {
    // Without a memory its conversation has another next turn, so that kind cannot be rebuilt.
    const weights = { ...every, next: 0 };
    const source = createRandom(3, 'hidden');
    const isVisible = Uint8Array.from(memories, () => (source.uniform() < 0.6 ? 1 : 0));
    const kept = memories.filter((_, number) => isVisible[number] === 1);
    const withoutHidden = kept.map((memory) => ({
      ...memory,
      similar: new Map([...(memory.similar ?? [])].filter(([id]) => kept.some((other) => other.id === id))),
    }));
    const whole = buildWalkable(memories, weights);
    const asOf = CUTOFF;
    const keptEarlier = isVisible.subarray(0, CUTOFF).reduce((sum, visible) => sum + visible, 0);
    const visible = { isVisible, memoryOf: whole.memoryOf };
    const hidden = scoreByName(whole, memories, seeds, scoring, { asOf, visible, scalesMentions: true });
    const rebuilt = scoreByName(buildWalkable(withoutHidden, weights), withoutHidden, seeds, scoring, {
      asOf: keptEarlier,
      scalesMentions: true,
    });
    expect([...hidden.keys()].sort()).toEqual([...rebuilt.keys()].sort());
    for (const [name, score] of hidden) expect(score, name).toBeCloseTo(rebuilt.get(name) as number, 9);
    expect(hidden.size).toBeGreaterThan(10);
  });

  test('a mask without hidden memories changes nothing, to the bit', () => {
    const whole = buildWalkable(memories, every);
    const visible = { isVisible: new Uint8Array(N).fill(1), memoryOf: whole.memoryOf };
    for (const scalesMentions of [false, true]) {
      const plain = scoreByName(whole, memories, seeds, scoring, { asOf: CUTOFF, scalesMentions });
      const masked = scoreByName(whole, memories, seeds, scoring, { asOf: CUTOFF, scalesMentions, visible });
      expect(masked).toEqual(plain);
    }
  });

  test('finds nothing from seeds that do not exist yet, and does not remember the query before', () => {
    const whole = buildWalkable(memories, every);
    const scorer = new MomentScorer(whole.adjacency.size);
    const options = { ...OPTIONS, scoring };
    const early = new GraphMoment(whole.adjacency, { asOf: 5 });
    const late = new GraphMoment(whole.adjacency, { asOf: N });
    const [first, last] = [whole.memoryNodes[2], whole.memoryNodes[70]] as [number, number];
    const alone = new Map([[first, 1]]);
    const copyScores = (moment: GraphMoment) => {
      const { nodes, values } = scorer.score(moment, alone, options);
      return nodes.map((node) => [node, values[node]]);
    };
    const before = copyScores(late);
    expect(scorer.score(early, new Map([[last, 1]]), options).nodes).toEqual([]);
    copyScores(early);
    expect(copyScores(late)).toEqual(before);
  });

  test('refuses a weight that is negative or not finite', () => {
    const { adjacency } = buildWalkable(memories, every);
    const scorer = new MomentScorer(adjacency.size);
    const moment = new GraphMoment(adjacency, { asOf: N });
    for (const weight of [-1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => scorer.score(moment, new Map([[0, weight]]), { ...OPTIONS, scoring })).toThrow(ValidationError);
  });
});

test.each([0, 0.5, 0.85])('pagerank equals the iteration over the visible graph at damping %f', async (damping) => {
  const past = memories.slice(0, CUTOFF);
  const { adjacency } = buildWalkable(past, every);
  const ids = Array.from({ length: adjacency.size }, (_, node) => String(node).padStart(4, '0'));
  const sources = Int32Array.from(ids.flatMap((_, node) => Array(countEntriesOf(adjacency, node)).fill(node)));
  const matrix = buildTransitionsFromEdges(ids, { sources, targets: adjacency.neighbours, weights: adjacency.weights });
  const start = new Map([
    [2, 0.7],
    [19, 0.3],
  ]);
  const solver = new HostPageRank(matrix, { damping, maxIterations: 500, tolerance: 1e-13 });
  const { scores } = await solver.solve([
    new Map(Array.from(start, ([node, weight]) => [ids[node] as string, weight])),
  ]);
  const whole = buildWalkable(memories, every);
  const moment = new GraphMoment(whole.adjacency, { asOf: CUTOFF });
  const options = { ...OPTIONS, scoring: 'pagerank', damping } as const;
  const { values } = new MomentScorer(whole.adjacency.size).score(moment, start, options);
  for (const node of ids.keys()) expect(values[node]).toBeCloseTo(scores[node] as number, 10);
});

function countEntriesOf(adjacency: TemporalAdjacency, node: number): number {
  return adjacency.findEnd(node, Number.POSITIVE_INFINITY) - (adjacency.offsets[node] as number);
}

test.each([1e-2, 1e-4, 1e-6])(
  'pagerank at tolerance %f is that near for each edge, and follows as few edges',
  (tolerance) => {
    const { adjacency } = buildWalkable(memories, weighEach);
    const options = { ...OPTIONS, scoring: 'pagerank' } as const;
    const start = new Map([[0, 2]]);
    const solve = (of: number) => {
      const moment = new GraphMoment(adjacency, { asOf: N });
      const { values } = new MomentScorer(adjacency.size).score(moment, start, { ...options, tolerance: of });
      return { values, moment };
    };
    const [exact, near] = [solve(1e-15), solve(tolerance)];
    const shares = Array.from(exact.values, (score, node) => {
      const edges = exact.moment.countEdges(node);
      return edges === 0 ? 0 : (score - near.values[node]!) / (edges + 1);
    });
    expect(Math.max(...shares)).toBeLessThanOrEqual(2 * tolerance);
    expect(Math.max(...shares)).toBeGreaterThan(tolerance / 100);
    expect(Math.min(...shares)).toBeGreaterThan(-1e-9); // no score exceeds the exact one
    expect(near.moment.operations).toBeLessThanOrEqual(1 / (0.5 * tolerance));
  },
);

test('a walk costs what is near its seeds, however many other memories there are', () => {
  const measureWalk = (others: number) => {
    const islands = Array.from({ length: others + 1 }, (_, island) =>
      drawGraphMemories(7, 30).map((memory) => ({
        ...memory,
        id: `${island} ${memory.id}`,
        parentId: memory.parentId === null ? null : `${island} ${memory.parentId}`,
        conversationId: `${island} ${memory.conversationId}`,
        title: null,
        concepts: memory.concepts.map((concept) => `${island} ${concept}`),
        relations: memory.relations?.map(([a, b]) => [`${island} ${a}`, `${island} ${b}`] as const) ?? [],
        similar: new Map<string, number>(),
      })),
    ).flat();
    const { adjacency, memoryNodes } = buildWalkable(islands, every);
    const moment = new GraphMoment(adjacency, { asOf: islands.length });
    const options = { ...OPTIONS, scoring: 'pagerank', tolerance: 1e-6 } as const;
    new MomentScorer(adjacency.size).score(moment, new Map([[memoryNodes[3] as number, 1]]), options);
    return moment.operations;
  };
  expect(measureWalk(1)).toBeGreaterThan(100);
  expect(measureWalk(40)).toBe(measureWalk(1));
});

test('residuals too small to be pushed give their own share to the scores', () => {
  const { adjacency, memoryNodes } = buildWalkable(memories, every);
  const [a, b] = [memoryNodes[3], memoryNodes[11]] as [number, number];
  const options = { ...OPTIONS, scoring: 'pagerank', damping: 0.25, tolerance: 1 } as const;
  const seed = new Map([
    [a, 1],
    [b, 3],
  ]);
  const found = new MomentScorer(adjacency.size).score(new GraphMoment(adjacency, { asOf: N }), seed, options);
  expect(new Map(found.nodes.map((node) => [node, found.values[node]]))).toEqual(
    new Map([
      [a, 0.75 * 0.25],
      [b, 0.75 * 0.75],
    ]),
  );
});
