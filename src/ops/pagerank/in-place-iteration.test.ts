import { describe, expect, test } from 'vitest';
import { ConvergenceError } from '../../core/errors/errors.ts';
import { iterateInPlace, prepareDampedWalk } from './in-place-iteration.ts';
import {
  buildHandmadeMatrix,
  drawSampleGraph,
  drawSeedQueries,
  type HandmadeGraph,
  solveExactPageRank,
} from './pagerank.oracle.ts';
import { allocateResult } from './pagerank-solver.ts';
import { buildSeedDistributions } from './seed-distribution.ts';

const DAMPING = 0.85;
const OPTIONS = { damping: DAMPING, tolerance: 1e-12, maxIterations: 500 };
const graph = drawSampleGraph();
const matrix = buildHandmadeMatrix(graph);
const nodes = matrix.nodeIds.length;
const walk = prepareDampedWalk(matrix, DAMPING);
const sets = drawSeedQueries(19);
const seeds = buildSeedDistributions(matrix, sets);

/** The scores of a query in the order of the rows. */
const listExactRow = (query: number) => {
  const exact = solveExactPageRank(graph, sets[query]!, DAMPING);
  return matrix.nodeIds.map((id) => exact.get(id)!);
};

test('a walk holds the damped probabilities of coming to a node', () => {
  const small: HandmadeGraph = {
    directed: true,
    nodes: ['a', 'b', 'c'],
    edges: [
      ['a', 'b', 1],
      ['a', 'c', 3],
      ['b', 'a', 2],
    ],
  };
  const { incoming, damping } = prepareDampedWalk(buildHandmadeMatrix(small), 0.5);
  const { rows, offsets, columnOf, values } = incoming;
  const entries = Array.from({ length: rows }, (_, row) =>
    Array.from(values.slice(offsets[row], offsets[row + 1]), (value, i) => [columnOf[offsets[row]! + i], value]),
  );
  expect(damping).toBe(0.5);
  expect(entries).toEqual([[[1, 0.5]], [[0, 0.125]], [[0, 0.375]]]);
});

describe('some of the queries', () => {
  // One by one, as a block that isn't full, full, and with some left over for either.
  test.each([1, 2, 3, 7, 8, 10, 11, 17])(
    '%i of them come to their scores, the others stay as they are',
    async (count) => {
      const chosen = [...seeds.keys()].reverse().slice(1, count + 1);
      const result = allocateResult(seeds.length, nodes);
      result.scores.fill(0.125);
      result.iterations.fill(3);
      result.errorBounds.fill(7);
      await iterateInPlace('host', walk, OPTIONS, seeds, chosen, result);
      for (const query of seeds.keys()) {
        const row = result.scores.subarray(query * nodes, (query + 1) * nodes);
        const known = [result.iterations[query], result.errorBounds[query]];
        if (!chosen.includes(query)) {
          expect([...row, ...known]).toEqual([...Array(nodes).fill(0.125), 3, 7]);
          continue;
        }
        const distance = listExactRow(query).reduce((sum, score, i) => sum + Math.abs(score - row[i]!), 0);
        expect(distance).toBeLessThan(1e-11);
        expect(known[0]).toBeGreaterThan(3 + 1);
        expect(known[1]).toBeLessThan((OPTIONS.tolerance * DAMPING) / (1 - DAMPING));
      }
    },
  );

  test('go on from where they stand', async () => {
    const result = allocateResult(seeds.length, nodes);
    result.scores.set(listExactRow(5), 5 * nodes);
    result.iterations[5] = 3;
    await iterateInPlace('host', walk, { ...OPTIONS, tolerance: 1e-9 }, seeds, [5, 7], result);
    expect(result.iterations[5]).toBe(3 + 1);
    expect(result.iterations[7]).toBeGreaterThan(10);
  });

  test('may take all the iterations that there are, and none more', async () => {
    const iterateAtMost = async (maxIterations: number) => {
      const result = allocateResult(seeds.length, nodes);
      await iterateInPlace('host', walk, { ...OPTIONS, maxIterations }, seeds, [7], result);
      return result.iterations[7]!;
    };
    const needed = await iterateAtMost(500);
    expect(await iterateAtMost(needed)).toBe(needed);
    await expect(iterateAtMost(needed - 1)).rejects.toThrow(ConvergenceError);
  });

  test('that need more iterations than there may be are an error with the largest residual', async () => {
    const result = allocateResult(seeds.length, nodes);
    const iterating = iterateInPlace('push', walk, { ...OPTIONS, maxIterations: 2 }, seeds, [0, 1, 2], result);
    await expect(iterating).rejects.toThrow(ConvergenceError);
    await expect(iterating).rejects.toThrow(/^push PageRank did not converge to 1e-12 within 2 iterations, residual: /);
  });
});

test('a node sees what the same iteration has renewed: one way along a road takes one iteration', async () => {
  const ids = Array.from({ length: 13 }, (_, i) => `n${String(i).padStart(2, '0')}`);
  const road = buildHandmadeMatrix({
    directed: true,
    nodes: ids,
    edges: [...ids.slice(1).map((id, i) => [ids[i]!, id, 1] as const), ['n12', 'n12', 1]],
  });
  const [distribution] = buildSeedDistributions(road, [new Map([['n00', 1]])]);
  const result = allocateResult(1, 13);
  const options = { damping: 0.5, tolerance: 1e-3, maxIterations: 100 };
  await iterateInPlace('host', prepareDampedWalk(road, 0.5), options, [distribution!], [0], result);
  // r_i = (1 - d) d^i but for the last node, whose loop is all that is left to settle.
  for (let i = 0; i < 12; i++) expect(result.scores[i]).toBe(0.5 ** (i + 1));
  expect(result.iterations[0]).toBe(2);
});
