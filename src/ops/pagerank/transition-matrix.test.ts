import { DirectedGraph, MultiDirectedGraph, MultiGraph, UndirectedGraph } from 'graphology';
import { expect, test } from 'vitest';
import { ValidationError } from '../../core/errors/errors.ts';
import { buildTransitionMatrix, buildTransitionsFromEdges, type TransitionMatrix } from './transition-matrix.ts';

/** Every step as "source -> target" with its probability. */
function listTransitions({ nodeIds, probabilities }: TransitionMatrix): Record<string, number> {
  const { offsets, columnOf, values } = probabilities;
  const steps: Record<string, number> = {};
  for (const [row, id] of nodeIds.entries()) {
    for (let entry = offsets[row]!; entry < offsets[row + 1]!; entry++)
      steps[`${id} -> ${nodeIds[columnOf[entry]!]}`] = values[entry]!;
  }
  return steps;
}

test('rows are shares of the weight that leaves a node, nodes ascend by bytes', () => {
  const graph = new DirectedGraph();
  for (const id of ['b', '\u{1F600}', 'a', '\uE000']) graph.addNode(id);
  graph.addEdge('b', 'a', { weight: 3 });
  graph.addEdge('b', '\u{1F600}', { weight: 1 });
  graph.addEdge('a', 'a', { weight: 0.125 });
  const matrix = buildTransitionMatrix(graph);
  expect(matrix.nodeIds).toEqual(['a', 'b', '\uE000', '\u{1F600}']);
  expect([...matrix.positionOf]).toEqual([
    ['a', 0],
    ['b', 1],
    ['\uE000', 2],
    ['\u{1F600}', 3],
  ]);
  expect(listTransitions(matrix)).toEqual({ 'a -> a': 1, 'b -> a': 0.75, 'b -> \u{1F600}': 0.25 });
  expect([...matrix.probabilities.offsets]).toEqual([0, 1, 3, 3, 3]);
  expect([...matrix.probabilities.columnOf]).toEqual([0, 0, 3]);
  expect([...matrix.dangling]).toEqual([2, 3]);
});

test('undirected edges lead both ways, loops count once, parallel edges add up, in mixed graphs too', () => {
  const graph = new MultiGraph();
  for (const id of ['a', 'b', 'c']) graph.addNode(id);
  graph.addUndirectedEdge('a', 'b', { weight: 1 });
  graph.addDirectedEdge('b', 'a', { weight: 2 });
  graph.addUndirectedEdge('b', 'b', { weight: 5 });
  graph.addDirectedEdge('a', 'c', { weight: 0 });
  const matrix = buildTransitionMatrix(graph);
  expect(listTransitions(matrix)).toEqual({ 'a -> b': 1, 'b -> a': 3 / 8, 'b -> b': 5 / 8 });
  expect([...matrix.dangling]).toEqual([2]);
});

test('the weight attribute is chosen, null counts edges', () => {
  const graph = new UndirectedGraph();
  for (const id of ['a', 'b', 'c']) graph.addNode(id);
  graph.addEdge('a', 'b', { weight: 1, shared: 7 });
  graph.addEdge('a', 'c', { weight: 3, shared: 1 });
  const listStepsFromA = (matrix: TransitionMatrix) => [
    listTransitions(matrix)['a -> b'],
    listTransitions(matrix)['a -> c'],
  ];
  expect(listStepsFromA(buildTransitionMatrix(graph))).toEqual([0.25, 0.75]);
  expect(listStepsFromA(buildTransitionMatrix(graph, 'shared'))).toEqual([0.875, 0.125]);
  expect(listStepsFromA(buildTransitionMatrix(graph, null))).toEqual([0.5, 0.5]);
});

test.each([[-1], [Number.NaN], [Number.POSITIVE_INFINITY], ['1'], [null], [undefined]])(
  'refuses the weight %s',
  (weight) => {
    const graph = new DirectedGraph();
    for (const id of ['a', 'b']) graph.addNode(id);
    graph.addEdge('b', 'a', { weight });
    expect(() => buildTransitionMatrix(graph)).toThrow(ValidationError);
    expect(() => buildTransitionMatrix(graph)).toThrow(
      /^weight of edge b -> a is negative or not finite: (-1|NaN|Infinity); /,
    );
  },
);

test('refuses weights whose sum is not finite', () => {
  const graph = new DirectedGraph();
  for (const id of ['a', 'b', 'c']) graph.addNode(id);
  graph.addEdge('a', 'b', { weight: 1e308 });
  graph.addEdge('a', 'c', { weight: 1e308 });
  expect(() => buildTransitionMatrix(graph)).toThrow('sum of weights leaving node a is not finite: Infinity');
});

test('the order of parallel edges does not move a bit', () => {
  const weights = [0.1, 0.7, 1e-9, 1e9, 0.3];
  const steps = [weights, weights.toReversed(), [0.7, 1e9, 0.3, 0.1, 1e-9]].map((order) => {
    const graph = new MultiDirectedGraph();
    for (const id of ['a', 'b', 'c']) graph.addNode(id);
    for (const weight of order) graph.addEdge('a', 'b', { weight });
    graph.addEdge('a', 'c', { weight: 1 / 3 });
    return listTransitions(buildTransitionMatrix(graph));
  });
  expect(steps[1]).toEqual(steps[0]);
  expect(steps[2]).toEqual(steps[0]);
});

test('arrays give what the graph of the same edges gives', () => {
  const nodeIds = ['n00', 'n01', 'n02', 'n03', 'n04'];
  const edges = { sources: [0, 3, 0, 3, 1, 0], targets: [4, 2, 1, 0, 1, 4], weights: [0.5, 2, 1, 0.25, 3, 0.75] };
  const graph = new MultiDirectedGraph();
  for (const id of nodeIds.toReversed()) graph.addNode(id);
  for (const [edge, source] of edges.sources.entries())
    graph.addEdge(nodeIds[source], nodeIds[edges.targets[edge]!], { weight: edges.weights[edge] });
  const typed = {
    sources: Int32Array.from(edges.sources),
    targets: Int32Array.from(edges.targets),
    weights: Float64Array.from(edges.weights),
  };
  expect(buildTransitionsFromEdges(nodeIds, typed)).toEqual(buildTransitionMatrix(graph));
});

test('arrays are checked', () => {
  const buildEdgeArrays = (source: number, target: number) => {
    return { sources: Int32Array.of(source), targets: Int32Array.of(target), weights: Float64Array.of(1) };
  };
  expect(() => buildTransitionsFromEdges(['a', 'b'], buildEdgeArrays(0, 2))).toThrow(
    'edge 0 is outside the 2 nodes: 0 -> 2',
  );
  expect(() => buildTransitionsFromEdges(['a', 'b'], buildEdgeArrays(-1, 0))).toThrow(
    'edge 0 is outside the 2 nodes: -1 -> 0',
  );
  for (const second of ['a', 'A'])
    expect(() => buildTransitionsFromEdges(['a', second], buildEdgeArrays(0, 0))).toThrow(
      `do not ascend, a is before ${second}`,
    );
  const uneven = { ...buildEdgeArrays(0, 1), weights: Float64Array.of(1, 2) };
  expect(() => buildTransitionsFromEdges(['a', 'b'], uneven)).toThrow(
    'edges: expected sources, targets and weights of one length, got 1, 1 and 2',
  );
});
