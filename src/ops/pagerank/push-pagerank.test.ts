import { describe, expect, test } from 'vitest';
import { createRandom } from '../../core/numbers/random.ts';
import { HostPageRank } from './host-pagerank.ts';
import { buildHandmadeMatrix, type HandmadeGraph, solveExactPageRank } from './pagerank.oracle.ts';
import { describePageRankSolver } from './pagerank-contract.harness.ts';
import { PushPageRank } from './push-pagerank.ts';

describePageRankSolver('push', (matrix, settings) => new PushPageRank(matrix, settings), 2e-6);

const id = (i: number) => `n${String(i).padStart(4, '0')}`;

/** A long road with steps back and short cuts, and a dangling node every 19: the surroundings of a node stay few. */
function buildRoad(length: number): HandmadeGraph {
  const stream = createRandom(5, 'push-pagerank.test');
  const nodes = Array.from({ length }, (_, i) => id(i));
  const edges = nodes.flatMap((node, i) =>
    i % 19 === 0
      ? []
      : [i - 1, i + 1, i + 3].filter((to) => to < length).map((to) => [node, id(to), 0.1 + stream.uniform()] as const),
  );
  return { directed: true, nodes, edges };
}

describe('near the seeds', () => {
  const graph = buildRoad(499);
  const matrix = buildHandmadeMatrix(graph);
  const seeds = new Map([
    [id(3), 1],
    [id(177), 2],
    [id(361), 1],
  ]);
  const exact = solveExactPageRank(graph, seeds, 0.5);

  test.each([0.3, 0.03, 1e-3, 1e-4])(
    'to %d: no score exceeds the exact one, and the bound is the error',
    async (tolerance) => {
      const { scores, errorBounds } = await new PushPageRank(matrix, { tolerance }).solve([seeds]);
      expect(scores.filter((score) => score > 0).length).toBeLessThan(250);
      const lacking = matrix.nodeIds.map((node, i) => exact.get(node)! - scores[i]!);
      expect(Math.min(...lacking)).toBeGreaterThan(-1e-15);
      const distance = lacking.reduce((a, b) => a + b);
      expect(Math.abs(distance - errorBounds[0]!)).toBeLessThan(1e-13);
      expect(errorBounds[0]).toBeGreaterThan(0);
      expect(errorBounds[0]).toBeLessThanOrEqual(tolerance);
      expect(scores.reduce((a, b) => a + b)).toBeCloseTo(1 - errorBounds[0]!, 12);
    },
  );

  test('where the walk stays near them the work hardly grows with the graph, and keeps its bound', async () => {
    const measureWorkOn = async (length: number) => {
      const long = buildHandmadeMatrix(buildRoad(length));
      const { iterations, scores } = await new PushPageRank(long, { tolerance: 1e-3 }).solve([new Map([[id(250), 1]])]);
      expect(iterations[0]).toBeLessThan(0.5 / (0.5 * 1e-3)); // damping / ((1 - damping) tolerance), in goes through the graph
      const work = Math.round(iterations[0]! * (length + long.probabilities.values.length));
      return { work, reached: scores.filter((score) => score > 0).length };
    };
    const [short, long] = [await measureWorkOn(503), await measureWorkOn(5003)];
    expect(short.reached).toBeGreaterThan(20);
    expect(short.reached).toBeLessThan(100);
    // A longer graph has a smaller share of the tolerance for each edge.
    expect(long.work).toBeLessThan(3 * short.work);
  });
});

test('far from the seeds it goes on as the host does, in fewer iterations', async () => {
  const matrix = buildHandmadeMatrix(buildRoad(97));
  const seeds = [new Map([[id(3), 1]]), new Map([[id(50), 1]]), new Map([[id(71), 1]])];
  const settings = { tolerance: 1e-12 };
  const host = await new HostPageRank(matrix, settings).solve(seeds);
  const push = await new PushPageRank(matrix, settings).solve(seeds);
  for (const query of seeds.keys()) {
    expect(push.iterations[query]).toBeGreaterThan(1);
    expect(push.iterations[query]).toBeLessThan(host.iterations[query]!);
    expect(push.errorBounds[query]).toBeLessThan(1e-12);
  }
  const distance = push.scores.reduce((sum, score, i) => sum + Math.abs(score - host.scores[i]!), 0);
  expect(distance).toBeLessThan(6e-12);
});

test('a query has the same result to the bit alone and in a batch', async () => {
  const solver = new PushPageRank(buildHandmadeMatrix(buildRoad(97)), { tolerance: 1e-9 });
  const queries = Array.from({ length: 13 }, (_, query) => new Map([[id(7 * query), 1]]));
  const together = await solver.solve(queries);
  for (const [query, seeds] of queries.entries())
    expect((await solver.solve([seeds])).scores).toEqual(together.scores.slice(query * 97, (query + 1) * 97));
});
