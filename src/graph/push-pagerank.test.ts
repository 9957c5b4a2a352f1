import { expect, test } from 'vitest';
import { random } from '../core/random.ts';
import { exactPageRank } from './handmade-pagerank.ts';
import { describePageRankSolver, matrixOf } from './pagerank-contract.ts';
import { PushPageRank } from './push-pagerank.ts';

describePageRankSolver('push', (matrix, settings) => new PushPageRank(matrix, settings), 2e-6);

/** Large enough for the queue to be used before the sweeps, with dangling nodes. */
function sampleGraph() {
  const stream = random(5, 'push-pagerank.test');
  const nodes = Array.from({ length: 211 }, (_, i) => `n${i}`);
  const edges = Array.from({ length: 499 }, () => {
    return [`n${stream.integer(151)}`, `n${stream.integer(211)}`, 0.1 + stream.uniform()] as const;
  });
  return { directed: true, nodes, edges };
}

test.each([0.3, 0.03, 1e-3, 1e-6, 1e-11])(
  'to %d: no score exceeds the exact one, and the bound is the error',
  async (tolerance) => {
    const graph = sampleGraph();
    const matrix = matrixOf(graph);
    const seeds = new Map([
      ['n3', 1],
      ['n77', 2],
      ['n160', 1],
    ]); // prettier-ignore
    const { scores, errorBounds } = await new PushPageRank(matrix, { tolerance }).solve([seeds]);
    const exact = exactPageRank(graph, seeds, 0.5);
    const lacking = matrix.nodeIds.map((id, i) => exact.get(id)! - scores[i]!);
    expect(Math.min(...lacking)).toBeGreaterThan(-1e-15);
    const distance = lacking.reduce((a, b) => a + b);
    expect(Math.abs(distance - errorBounds[0]!)).toBeLessThan(1e-13);
    expect(errorBounds[0]).toBeLessThanOrEqual(tolerance);
    expect(scores.reduce((a, b) => a + b)).toBeCloseTo(1 - errorBounds[0]!, 12);
  },
);

test('the work is that of the surroundings of the seeds, however long the rest of the graph', async () => {
  const pathOf = async (length: number) => {
    const nodes = Array.from({ length }, (_, i) => `n${String(i).padStart(4, '0')}`);
    const edges = nodes.slice(1).map((id, i) => [nodes[i]!, id, 1] as const);
    const solver = new PushPageRank(matrixOf({ directed: true, nodes, edges }), { tolerance: 1e-3 });
    const { iterations, scores } = await solver.solve([new Map([['n0007', 1]])]);
    return { work: iterations[0]! * (2 * length - 1), reached: scores.filter((score) => score > 0).length };
  };
  const [short, long] = [await pathOf(503), await pathOf(5003)];
  expect(short.reached).toBeGreaterThan(9);
  expect(long.reached).toBeLessThan(40);
  expect(long.work).toBeLessThan(80);
});
