import type { AbstractGraph } from 'graphology-types';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { type SparseMatrix, transpose } from '../../core/linear/sparse-matrix.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';

/** A random walk on a graph: the probabilities of its steps. */
export interface TransitionMatrix {
  /** [V], ascending by bytes, so that the numbers do not depend on the order in which the graph was filled; a node's position is its place here. */
  readonly nodeIds: readonly string[];
  readonly positionOf: ReadonlyMap<string, number>;
  /** P, [V, V]: the share of each edge in the weight that leaves its node, columns ascending. A row sums to 1, that of a dangling node is empty. */
  readonly probabilities: SparseMatrix;
  /** [dangling nodes] positions of the nodes that no weight leaves, ascending. */
  readonly dangling: Int32Array;
}

/** Directed edges between positions, [E] each; several between the same nodes count as one of their summed weight. */
export interface WeightedEdges {
  /** [E] position of the node that each edge leaves. */
  readonly sources: Int32Array;
  /** [E] position of the node that each edge enters. */
  readonly targets: Int32Array;
  /** [E] weight of each edge, from 0. */
  readonly weights: Float64Array;
}

/**
 * The random walk on a graph; an undirected edge leads both ways, a loop once. Costs O(V log V + E).
 *
 * @param weightAttribute of the edges; null counts every edge as 1.
 * @throws ValidationError naming the edge for a weight that is missing, negative or not finite.
 */
export function buildTransitionMatrix(
  graph: AbstractGraph,
  weightAttribute: string | null = 'weight',
): TransitionMatrix {
  const nodeIds = graph.nodes().sort(compareBytes);
  const positionOf = indexNodePositions(nodeIds);
  const capacity = graph.directedSize + 2 * graph.undirectedSize;
  const sources = new Int32Array(capacity);
  const targets = new Int32Array(capacity);
  const weights = new Float64Array(capacity);
  let count = 0;
  const add = (source: string, target: string, weight: unknown) => {
    sources[count] = positionOf.get(source)!;
    targets[count] = positionOf.get(target)!;
    // What is no number becomes NaN, never 0 as null would.
    weights[count++] = typeof weight === 'number' ? weight : Number.NaN;
  };
  graph.forEachEdge((_edge, attributes, source, target, _source, _target, undirected) => {
    const weight: unknown = weightAttribute === null ? 1 : attributes[weightAttribute];
    add(source, target, weight);
    if (undirected && source !== target) add(target, source, weight);
  });
  const edges = {
    sources: sources.subarray(0, count),
    targets: targets.subarray(0, count),
    weights: weights.subarray(0, count),
  };
  return normaliseEdges(nodeIds, positionOf, edges);
}

/**
 * The same from arrays, for graphs that are too large to be held as objects.
 *
 * @param nodeIds [V], strictly ascending by bytes.
 * @throws DimensionMismatchError for arrays of different lengths; ValidationError for ids that do not ascend, an edge that leaves the graph, a weight that is negative or not finite.
 */
export function buildTransitionsFromEdges(nodeIds: readonly string[], edges: WeightedEdges): TransitionMatrix {
  for (let i = 1; i < nodeIds.length; i++) {
    if (compareBytes(nodeIds[i - 1]!, nodeIds[i]!) >= 0)
      throw new ValidationError(
        `node ids do not ascend, ${nodeIds[i - 1]} is before ${nodeIds[i]}; sort them and remove repeated ids`,
      );
  }
  return normaliseEdges(nodeIds, indexNodePositions(nodeIds), edges);
}

function indexNodePositions(nodeIds: readonly string[]): Map<string, number> {
  return new Map(nodeIds.map((id, position) => [id, position]));
}

function normaliseEdges(
  nodeIds: readonly string[],
  positionOf: ReadonlyMap<string, number>,
  edges: WeightedEdges,
): TransitionMatrix {
  assertEdges(nodeIds, edges);
  // Sorted by target, then by source: two counting sorts leave every row in the order of its columns.
  const weights = mergeEqualEntries(transpose(buildTargetMatrix(nodeIds.length, edges)));
  const { offsets, values } = weights;
  const dangling: number[] = [];
  for (const [row, id] of nodeIds.entries()) {
    const leaving = values.subarray(offsets[row]!, offsets[row + 1]!);
    const total = leaving.reduce((sum, weight) => sum + weight, 0);
    if (!Number.isFinite(total))
      throw new ValidationError(`sum of weights leaving node ${id} is not finite: ${total}; use smaller weights`);
    if (total === 0) dangling.push(row);
    for (let entry = 0; entry < leaving.length; entry++) leaving[entry]! /= total;
  }
  return { nodeIds, positionOf, probabilities: weights, dangling: Int32Array.from(dangling) };
}

function assertEdges(nodeIds: readonly string[], { sources, targets, weights }: WeightedEdges): void {
  if (sources.length !== targets.length || sources.length !== weights.length) {
    const got = `${sources.length}, ${targets.length} and ${weights.length}`;
    throw new DimensionMismatchError('edges', 'sources, targets and weights of one length', got);
  }
  for (let edge = 0; edge < sources.length; edge++) {
    const [source, target] = [nodeIds[sources[edge]!], nodeIds[targets[edge]!]];
    if (source === undefined || target === undefined) {
      const got = `${sources[edge]} -> ${targets[edge]}`;
      throw new ValidationError(`edge ${edge} is outside the ${nodeIds.length} nodes: ${got}; use positions of nodes`);
    }
    const weight = weights[edge]!;
    if (!(weight >= 0 && weight < Number.POSITIVE_INFINITY)) {
      const message = `weight of edge ${source} -> ${target} is negative or not finite: ${weight}; pass a number from 0`;
      throw new ValidationError(message, { source, target, weight });
    }
  }
}

/** Edges without their zeros as a matrix of targets by sources. */
function buildTargetMatrix(nodes: number, { sources, targets, weights }: WeightedEdges): SparseMatrix {
  const offsets = new Int32Array(nodes + 1);
  for (let edge = 0; edge < targets.length; edge++) if (weights[edge]! > 0) offsets[targets[edge]! + 1]!++;
  for (let node = 0; node < nodes; node++) offsets[node + 1]! += offsets[node]!;
  const next = offsets.slice();
  const columnOf = new Int32Array(offsets[nodes]!);
  const values = new Float64Array(offsets[nodes]!);
  for (let edge = 0; edge < targets.length; edge++) {
    if (weights[edge] === 0) continue;
    const insertionPoint = next[targets[edge]!]!++;
    columnOf[insertionPoint] = sources[edge]!;
    values[insertionPoint] = weights[edge]!;
  }
  return { rows: nodes, columns: nodes, offsets, columnOf, values };
}

/** Sums entries of the same place; equal columns of a row must be neighbours. */
function mergeEqualEntries(a: SparseMatrix): SparseMatrix {
  const offsets = new Int32Array(a.rows + 1);
  const columnOf = a.columnOf.slice();
  const values = a.values.slice();
  let count = 0;
  for (let row = 0; row < a.rows; row++) {
    for (let entry = a.offsets[row]!; entry < a.offsets[row + 1]!; ) {
      const start = entry;
      while (entry < a.offsets[row + 1]! && a.columnOf[entry] === a.columnOf[start]) entry++;
      columnOf[count] = a.columnOf[start]!;
      // In the order of size, so that rounding does not depend on the order of the edges.
      values[count++] = a.values
        .slice(start, entry)
        .sort()
        .reduce((sum, weight) => sum + weight, 0);
    }
    offsets[row + 1] = count;
  }
  return { ...a, offsets, columnOf: columnOf.slice(0, count), values: values.slice(0, count) };
}
