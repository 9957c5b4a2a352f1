import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigurationError, ConvergenceError, ValidationError } from '../../core/errors/errors.ts';
import {
  buildHandmadeMatrix,
  drawSampleGraph,
  drawSeedQueries,
  graphs,
  type HandmadeGraph,
  seedWeights,
  solveExactPageRank,
} from './pagerank.oracle.ts';
import type { PageRankSettings, PageRankSolver } from './pagerank-solver.ts';
import type { SeedSet } from './seed-distribution.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

type CreateSolver = (matrix: TransitionMatrix, settings?: PageRankSettings) => PageRankSolver;

/**
 * The contract of every solver of PageRank.
 *
 * @param accuracy L1 distance from the exact scores that the solver reaches with its defaults.
 * @param repeats whether the same queries have the same scores to the last bit; false if a device adds in any order.
 */
export function describePageRankSolver(name: string, create: CreateSolver, accuracy: number, repeats = true): void {
  /** The scores of each query by node. */
  async function solve(graph: HandmadeGraph, queries: readonly SeedSet[], settings: PageRankSettings = {}) {
    const matrix = buildHandmadeMatrix(graph);
    const solver = create(matrix, settings);
    try {
      const { scores } = await solver.solve(queries);
      const { nodeIds } = matrix;
      return queries.map((_, query) =>
        Object.fromEntries(nodeIds.map((id, i) => [id, scores[query * nodeIds.length + i]!])),
      );
    } finally {
      solver.dispose();
    }
  }

  async function expectExact(graph: HandmadeGraph, queries: readonly SeedSet[], damping: number): Promise<void> {
    // The worst case at 0.85 and 1e-10 is 142 iterations.
    const found = await solve(graph, queries, { damping, maxIterations: 200 });
    for (const [query, seeds] of queries.entries()) {
      const expected = solveExactPageRank(graph, seeds, damping);
      const distance = graph.nodes.reduce((sum, id) => sum + Math.abs(found[query]![id]! - expected.get(id)!), 0);
      expect(distance, `query ${query}`).toBeLessThan((accuracy * 0.5) / (1 - damping));
      expect(Object.values(found[query]!).every((score) => score >= 0)).toBe(true);
    }
  }

  describe(`${name} as a solver of PageRank`, () => {
    const buildEdge = (source: string, target: string, weight = 1) => [source, target, weight] as const;

    test.each<[string, HandmadeGraph]>([
      ['one node', { directed: true, nodes: ['a'], edges: [] }],
      ['one node with a loop', { directed: false, nodes: ['a'], edges: [buildEdge('a', 'a', 3)] }],
      ['dangling nodes only', { directed: true, nodes: ['a', 'b', 'c'], edges: [] }],
      ['weights of 0 only', { directed: true, nodes: ['a', 'b'], edges: [buildEdge('a', 'b', 0)] }],
      [
        'the last node unreached',
        { directed: true, nodes: ['a', 'b', 'c'], edges: [buildEdge('c', 'a'), buildEdge('a', 'b')] },
      ],
      [
        'two components',
        {
          directed: false,
          nodes: ['a', 'b', 'c', 'd', 'e'],
          edges: [buildEdge('a', 'b'), buildEdge('c', 'd'), buildEdge('d', 'e')],
        },
      ],
      [
        'loops',
        {
          directed: true,
          nodes: ['a', 'b', 'c'],
          edges: [buildEdge('a', 'a', 2), buildEdge('a', 'b', 1), buildEdge('b', 'c', 1), buildEdge('c', 'c', 5)],
        },
      ],
      [
        'parallel edges',
        {
          directed: true,
          nodes: ['a', 'b', 'c'],
          edges: [buildEdge('a', 'b', 2), buildEdge('a', 'c', 1), buildEdge('a', 'b', 4), buildEdge('b', 'a', 1)],
        },
      ],
      [
        'weights far apart',
        {
          directed: true,
          nodes: ['a', 'b', 'c'],
          edges: [
            buildEdge('a', 'b', 1e12),
            buildEdge('a', 'c', 1e-12),
            buildEdge('b', 'a', 7),
            buildEdge('c', 'a', 0.3),
          ],
        },
      ],
      [
        'a star',
        {
          directed: false,
          nodes: ['a', 'b', 'c', 'd', 'e', 'f', 'g'],
          edges: ['b', 'c', 'd', 'e', 'f', 'g'].map((id) => buildEdge('a', id, 3)),
        },
      ],
    ])('%s', async (_, graph) => {
      const last = graph.nodes.at(-1)!;
      await expectExact(
        graph,
        [
          new Map([['a', 2]]),
          new Map([
            ['a', 1],
            [last, 3],
          ]),
        ],
        0.5,
      );
      await expectExact(graph, [new Map([[last, 5]])], 0.85);
    });

    test('any graph', async () => {
      const property = fc.asyncProperty(
        graphs,
        seedWeights,
        fc.constantFrom(0, 0.5, 0.85),
        async (graph, seeds, damping) => {
          const query = new Map(seeds.map(([i, weight]) => [graph.nodes[i % graph.nodes.length]!, weight]));
          await expectExact(graph, [query], damping);
        },
      );
      await fc.assert(property, { numRuns: 60, seed: 7 });
    });

    test('what is not connected with the seeds scores 0, and scores sum to 1', async () => {
      const graph = { directed: false, nodes: ['a', 'b', 'c', 'd'], edges: [buildEdge('a', 'b'), buildEdge('c', 'd')] };
      const [scores] = await solve(graph, [new Map([['c', 1]])]);
      expect(scores).toMatchObject({ a: 0, b: 0 });
      const sums = (await solve(drawSampleGraph(), drawSeedQueries(5))).map((row) =>
        Object.values(row).reduce((a, b) => a + b),
      );
      for (const sum of sums) expect(Math.abs(sum - 1)).toBeLessThan(accuracy);
    });

    test('a batch of different seeds is what its queries are one by one', async () => {
      const queries = drawSeedQueries(13);
      const batch = await solve(drawSampleGraph(), queries);
      for (const [query, seeds] of queries.entries()) {
        const [alone] = await solve(drawSampleGraph(), [seeds]);
        for (const [id, score] of Object.entries(alone!)) {
          expect(Math.abs(batch[query]![id]! - score), `query ${query}, ${id}`).toBeLessThan(accuracy);
        }
      }
      await expectExact(drawSampleGraph(), queries, 0.5);
    });

    test('neither the scale of weights, nor the order of nodes, edges and seeds matters', async () => {
      const { nodes, edges, directed } = drawSampleGraph();
      const [query] = drawSeedQueries(5).filter((seeds) => seeds.size > 2);
      const [found] = await solve({ directed, nodes, edges }, [query!]);
      const turned = { directed, nodes: nodes.toReversed(), edges: edges.toReversed() };
      expect(await solve(turned, [new Map([...query!].toReversed())])).toEqual([found]);
      const scaled = { directed, nodes, edges: edges.map(([a, b, weight]) => [a, b, 4 * weight] as const) };
      expect(await solve(scaled, [new Map([...query!].map(([id, weight]) => [id, weight / 8]))])).toEqual([found]);
    });

    test('the bound holds, and iterations are counted', async () => {
      const graph = drawSampleGraph();
      const matrix = buildHandmadeMatrix(graph);
      const nodes = matrix.nodeIds.length;
      for (const tolerance of [1e-2, 1e-5]) {
        const solver = create(matrix, { tolerance, damping: 0.85 });
        const queries = drawSeedQueries(7);
        const { scores, errorBounds, iterations } = await solver.solve(queries);
        solver.dispose();
        expect([scores.length, errorBounds.length, iterations.length]).toEqual([7 * nodes, 7, 7]);
        for (const [query, seeds] of queries.entries()) {
          const expected = solveExactPageRank(graph, seeds, 0.85);
          const row = scores.subarray(query * nodes, (query + 1) * nodes);
          const distance = row.reduce((sum, score, i) => sum + Math.abs(score - expected.get(matrix.nodeIds[i]!)!), 0);
          expect(distance).toBeLessThanOrEqual(errorBounds[query]! + 1e-6);
          expect(errorBounds[query]).toBeLessThanOrEqual((tolerance * 0.85) / 0.15);
          expect(iterations[query]).toBeGreaterThan(0);
        }
      }
    });

    test.each<[string, SeedSet, string]>([
      ['no seeds', new Map(), 'seed weights of query 1 have no finite sum above 0: 0'],
      ['weights of 0', new Map([['n3', 0]]), 'seed weights of query 1 have no finite sum above 0: 0'],
      [
        'an endless sum',
        new Map([
          ['n3', 1e308],
          ['n5', 1e308],
        ]),
        'seed weights of query 1 have no finite sum above 0: Infinity',
      ],
      ['a negative weight', new Map([['n3', -1]]), 'weight of seed n3 of query 1 is negative or not finite: -1'],
      [
        'a weight that is no number',
        new Map([['n3', Number.NaN]]),
        'weight of seed n3 of query 1 is negative or not finite: NaN',
      ],
      [
        'an unknown seed',
        new Map([
          ['n3', 1],
          ['zz', 0],
        ]),
        'query 1 has a seed that is not in the graph: zz',
      ],
    ])('refuses %s', async (_, seeds, message) => {
      const solving = solve(drawSampleGraph(), [new Map([['n2', 1]]), seeds]);
      await expect(solving).rejects.toThrow(ValidationError);
      await expect(solving).rejects.toThrow(message);
    });

    test.each<[PageRankSettings, string]>([
      [
        { alpha: 0.1 } as PageRankSettings,
        'alpha: expected one of damping, maxIterations, tolerance, got unknown key "alpha"',
      ],
      [{ damping: 1 }, 'damping: expected number < 1, got 1'],
      [{ damping: -0.1 }, 'damping: expected number >= 0, got -0.1'],
      [{ tolerance: 0 }, 'tolerance: expected number > 0, got 0'],
      [{ maxIterations: 0 }, 'maxIterations: expected number >= 1, got 0'],
    ])('refuses options %j', (settings, message) => {
      expect(() => create(buildHandmadeMatrix(drawSampleGraph()), settings)).toThrow(ConfigurationError);
      expect(() => create(buildHandmadeMatrix(drawSampleGraph()), settings)).toThrow(message);
    });

    test('not converging is an error with the residual', async () => {
      const solving = solve(drawSampleGraph(), drawSeedQueries(3), { damping: 0.99, maxIterations: 3 });
      await expect(solving).rejects.toThrow(ConvergenceError);
      await expect(solving).rejects.toMatchObject({
        code: 'CONVERGENCE',
        message: expect.stringMatching(/PageRank did not converge to [\d.e-]+ within 3 iterations, residual: [\d.]+; /),
      });
    });

    test('no queries have no scores, an empty graph has no seeds', async () => {
      expect(await solve(drawSampleGraph(), [])).toEqual([]);
      const empty = { directed: true, nodes: [], edges: [] };
      expect(await solve(empty, [])).toEqual([]);
      await expect(solve(empty, [new Map([['a', 1]])])).rejects.toThrow('not in the graph: a');
    });

    test('gives the same numbers again, and throws when disposed', async () => {
      const solver = create(buildHandmadeMatrix(drawSampleGraph()));
      const first = await solver.solve(drawSeedQueries(11));
      const again = await solver.solve(drawSeedQueries(11));
      if (repeats) expect(again).toEqual(first);
      else {
        const distance = first.scores.reduce((sum, score, i) => sum + Math.abs(score - again.scores[i]!), 0);
        expect(distance).toBeLessThan(11 * accuracy);
      }
      solver.dispose();
      solver.dispose();
      await expect(solver.solve(drawSeedQueries(1))).rejects.toThrow(`solver was disposed: ${solver.name}`);
    });
  });
}
