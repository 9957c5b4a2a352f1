import { expect, test } from 'vitest';
import { readDisplay } from '../../core/display/display.harness.ts';
import { HostPageRank } from './host-pagerank.ts';
import { displayPageRank } from './pagerank-display.ts';
import { buildTransitionsFromEdges } from './transition-matrix.ts';

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
