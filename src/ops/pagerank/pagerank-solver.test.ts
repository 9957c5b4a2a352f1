import { expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { parse } from '../../core/validation/validation.ts';
import { HostPageRank } from './host-pagerank.ts';
import {
  allocateResult,
  assertUsable,
  boundError,
  displayPageRank,
  hostPageRankOptions,
  pushPageRankOptions,
  tensorPageRankOptions,
} from './pagerank-solver.ts';
import { buildTransitionsFromEdges } from './transition-matrix.ts';

test.each([0, 0.5, 0.85, 0.97])('the bound is the sum of all changes to come, each %d times the last', (damping) => {
  let [change, sum] = [0.013, 0];
  for (let iteration = 0; iteration < 3000; iteration++) {
    change *= damping;
    sum += change;
  }
  expect(Math.abs(boundError(0.013, damping) - sum)).toBeLessThan(1e-14);
});

test('a result begins with no score, no iteration and no error, a row a query', () => {
  const { scores, iterations, errorBounds } = allocateResult(3, 7);
  expect(scores).toEqual(new Float64Array(21));
  expect([iterations, errorBounds]).toEqual([new Float64Array(3), new Float64Array(3)]);
});

test('what is left out of the options takes its default, a tolerance by what the numbers can tell', () => {
  const parseDefaults = (schema: typeof hostPageRankOptions) => parse(schema, {}, 'options');
  expect(parseDefaults(hostPageRankOptions)).toEqual({ damping: 0.5, maxIterations: 100, tolerance: 1e-10 });
  expect(parseDefaults(tensorPageRankOptions)).toEqual({ damping: 0.5, maxIterations: 100, tolerance: 1e-6 });
  expect(parseDefaults(pushPageRankOptions)).toEqual({ damping: 0.5, maxIterations: 100, tolerance: 1e-6 });
});

test('what a solver holds is given out until it is disposed', () => {
  const held = { matrix: 0 };
  expect(assertUsable('host', held)).toBe(held);
  expect(assertUsable('host', 0)).toBe(0);
  expect(() => assertUsable('host', null)).toThrow(/^solver was disposed: host; /);
});

test('a PageRank result shows the best nodes of each query by name', async () => {
  const nodeIds = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  const edges = { sources: Int32Array.of(0, 1), targets: Int32Array.of(1, 2), weights: Float64Array.of(1, 1) };
  const solver = new HostPageRank(buildTransitionsFromEdges(nodeIds, edges), { damping: 0.5 });
  const result = await solver.solve([new Map([['a', 1]]), new Map([['g', 1]])]);
  const lines = (await readDisplay(result))['text/plain'].split('\n');
  expect(lines[0]).toBe('PageRank of 2 queries over 7 nodes; the first 5 of each query');
  expect(lines).toHaveLength(2 + 2 * 5);
  expect(lines[2]).toMatch(/^ +0 +a +\.5714/);
  expect(lines[7]).toMatch(/^ +1 +g +1/);
  expect(Object.keys(result)).toEqual(['scores', 'iterations', 'errorBounds']);
  solver.dispose();
});

test('a PageRank result of many queries shows those of the first six', async () => {
  const [queries, nodes] = [1009, 3];
  const scores = new Float64Array(queries * nodes).fill(1 / 3);
  const counts = { iterations: new Float64Array(queries), errorBounds: new Float64Array(queries) };
  const lines = (await readDisplay(displayPageRank({ scores, ...counts }, ['a', 'b', 'c'])))['text/plain'].split('\n');
  expect(lines[0]).toBe('PageRank of 1009 queries over 3 nodes; the first 5 of the first 6 queries');
  expect(lines).toHaveLength(2 + 6 * nodes);
});
