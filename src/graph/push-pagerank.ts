import { ConvergenceError } from '../core/errors.ts';
import { letEventsIn } from '../core/event-loop.ts';
import { parse } from '../core/validation.ts';
import {
  assertUsable,
  emptyResult,
  type PageRankOptions,
  type PageRankResult,
  type PageRankSettings,
  type PageRankSolver,
  pushPageRankOptions,
} from './pagerank-solver.ts';
import { type SeedDistribution, type SeedSet, seedDistributions } from './seed-distribution.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** Waiting nodes, as a share of all, from which on going through all nodes in order is faster than a queue. */
const CROWD = 0.05;
/** A sweep passes over nodes whose residual is below this share of the average: they gather more before the next. */
const WORTH_PUSHING = 0.3;

/**
 * Forward push (Andersen, Chung, Lang 2006). Every node has a score and a residual; pushing a node moves 1 - damping of its residual into its score and the rest along
 * its edges. The residuals are never negative and their sum is what the scores lack, so that the error bound is the error itself, and no score exceeds the exact one.
 * What reaches a dangling node goes back to the seeds.
 *
 * Nodes wait in a queue while they are few, so that only the surroundings of the seeds are touched; when they become many all nodes are swept in order (Wu, Gan, Wei,
 * Zhang 2021, "Unifying the global and local approaches: an efficient power iteration with forward push"). O(min(1 / tolerance, log(1 / tolerance)) E), beside O(V)
 * for each query to read the result.
 */
export class PushPageRank implements PageRankSolver {
  readonly name = 'push';
  readonly #options: PageRankOptions;
  #matrix: TransitionMatrix | null;

  /** @throws ConfigurationError for an unknown option or one out of range. */
  constructor(matrix: TransitionMatrix, settings: PageRankSettings = {}) {
    this.#options = parse(pushPageRankOptions, settings, 'options of push PageRank');
    this.#matrix = matrix;
  }

  async solve(queries: readonly SeedSet[]): Promise<PageRankResult> {
    const matrix = assertUsable(this.name, this.#matrix);
    const seeds = seedDistributions(matrix, queries);
    const nodes = matrix.nodeIds.length;
    const result = emptyResult(seeds.length, nodes);
    for (const [query, distribution] of seeds.entries()) {
      const state = startAt(matrix, distribution, result.scores.subarray(query * nodes, (query + 1) * nodes));
      result.errorBounds[query] = push(state, this.#options);
      result.iterations[query] = state.work / fullWork(matrix);
      await letEventsIn();
    }
    return result;
  }

  dispose(): void {
    this.#matrix = null;
  }
}

interface PushState {
  readonly matrix: TransitionMatrix;
  readonly seeds: SeedDistribution;
  /** [V] */
  readonly scores: Float64Array;
  /** [V] */
  readonly residuals: Float64Array;
  /** On its way from dangling nodes to the seeds. */
  returning: number;
  /** Edges followed and nodes looked at. */
  work: number;
}

function startAt(matrix: TransitionMatrix, seeds: SeedDistribution, scores: Float64Array): PushState {
  const state = { matrix, seeds, scores, residuals: new Float64Array(scores.length), returning: 1, work: 0 };
  returnToSeeds(state);
  return state;
}

/** What following all edges once costs. */
function fullWork({ nodeIds, probabilities }: TransitionMatrix): number {
  return nodeIds.length + probabilities.values.length;
}

/** @returns the error bound. */
function push(state: PushState, { damping, tolerance, maxIterations }: PageRankOptions): number {
  const full = fullWork(state.matrix);
  // The scores take their share of the last residuals, which leaves damping of them as the error.
  const enough = tolerance / damping;
  pushWaiting(state, damping, enough);
  let mass = massOf(state);
  while (mass > enough) {
    if (state.work >= maxIterations * full)
      throw new ConvergenceError('push PageRank', maxIterations, tolerance, damping * mass);
    // Below the average, so that some node is pushed in every sweep.
    sweep(state, damping, Math.max(enough / 2, WORTH_PUSHING * mass) / full);
    mass = massOf(state);
  }
  returnToSeeds(state);
  for (let node = 0; node < state.scores.length; node++) state.scores[node]! += (1 - damping) * state.residuals[node]!;
  return damping * mass;
}

/** Pushes from a queue until the residuals are small for their node's edges, or too many nodes wait. */
function pushWaiting(state: PushState, damping: number, enough: number): void {
  const { matrix, seeds, residuals } = state;
  const { offsets, columnOf } = matrix.probabilities;
  const limit = enough / fullWork(matrix);
  const queue = new NodeQueue(residuals.length);
  const offer = (node: number) => {
    if (residuals[node]! > limit * (offsets[node + 1]! - offsets[node]! + 1)) queue.add(node);
  };
  seeds.positions.forEach(offer);
  while (queue.size > 0 && queue.size < CROWD * residuals.length) {
    const node = queue.take();
    pushNode(state, damping, node);
    for (let entry = offsets[node]!; entry < offsets[node + 1]!; entry++) offer(columnOf[entry]!);
    if (queue.size > 0) continue;
    returnToSeeds(state);
    seeds.positions.forEach(offer);
  }
}

/** Pushes every node, in order, that has at least `limit` of residual for each of its edges and itself. */
function sweep(state: PushState, damping: number, limit: number): void {
  returnToSeeds(state);
  const { residuals, scores, matrix } = state;
  const { offsets, columnOf, values } = matrix.probabilities;
  let work = 0;
  let returning = 0;
  for (let node = 0; node < residuals.length; node++) {
    const begin = offsets[node]!;
    const end = offsets[node + 1]!;
    const residual = residuals[node]!;
    work++;
    if (!(residual > limit * (end - begin + 1))) continue;
    residuals[node] = 0;
    scores[node]! += (1 - damping) * residual;
    const sent = damping * residual;
    if (begin === end) returning += sent;
    for (let entry = begin; entry < end; entry++) residuals[columnOf[entry]!]! += sent * values[entry]!;
    work += end - begin;
  }
  state.work += work;
  state.returning += returning;
}

function pushNode(state: PushState, damping: number, node: number): void {
  const { matrix, scores, residuals } = state;
  const { offsets, columnOf, values } = matrix.probabilities;
  const begin = offsets[node]!;
  const end = offsets[node + 1]!;
  const residual = residuals[node]!;
  residuals[node] = 0;
  scores[node]! += (1 - damping) * residual;
  const sent = damping * residual;
  if (begin === end) state.returning += sent;
  for (let entry = begin; entry < end; entry++) residuals[columnOf[entry]!]! += sent * values[entry]!;
  state.work += end - begin + 1;
}

function returnToSeeds(state: PushState): void {
  const { positions, shares } = state.seeds;
  for (let i = 0; i < positions.length; i++) state.residuals[positions[i]!]! += state.returning * shares[i]!;
  state.returning = 0;
}

/** What the scores still lack. */
function massOf({ residuals, returning }: PushState): number {
  let mass = returning;
  for (let node = 0; node < residuals.length; node++) mass += residuals[node]!;
  return mass;
}

/** First in, first out; a node waits once. */
class NodeQueue {
  size = 0;
  #first = 0;
  readonly #nodes: Int32Array;
  readonly #waits: Uint8Array;

  constructor(capacity: number) {
    this.#nodes = new Int32Array(capacity);
    this.#waits = new Uint8Array(capacity);
  }

  add(node: number): void {
    if (this.#waits[node] === 1) return;
    this.#waits[node] = 1;
    this.#nodes[(this.#first + this.size++) % this.#nodes.length] = node;
  }

  take(): number {
    const node = this.#nodes[this.#first]!;
    this.#first = (this.#first + 1) % this.#nodes.length;
    this.size--;
    this.#waits[node] = 0;
    return node;
  }
}
