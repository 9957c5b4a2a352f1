import { letEventsIn } from '../../core/terminal/progress.ts';
import { parse } from '../../core/validation/validation.ts';
import { type DampedWalk, iterateInPlace, prepareDampedWalk } from './in-place-iteration.ts';
import {
  allocateResult,
  assertUsable,
  displayPageRank,
  type PageRankOptions,
  type PageRankResult,
  type PageRankSettings,
  type PageRankSolver,
  pushPageRankOptions,
} from './pagerank-solver.ts';
import { buildSeedDistributions, placeSeeds, type SeedDistribution, type SeedSet } from './seed-distribution.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** First in, first out; a node waits once. */
export class NodeQueue {
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

/** Waiting nodes, as a share of all, from which on going through all nodes in order is faster than a queue. */
const CROWD = 0.1;

/**
 * Forward push (Andersen, Chung, Lang 2006, "Local graph partitioning using PageRank vectors"). Every node has a score and a residual; pushing a node moves 1 - damping
 * of its residual into its score and the rest along its edges, back to the seeds if there are none. The residuals are never negative and their sum is what the scores
 * lack: the error bound is the error itself, and no score exceeds the exact one. Only the surroundings of the seeds are touched: at most
 * damping (V + E) / ((1 - damping) tolerance) edges and nodes, far fewer if the walk stays near its seeds, plus O(V) to read the result.
 *
 * Where the surroundings become the whole graph, a queue is the slower way: once {@link CROWD} of the nodes wait, the scores with their residuals are where the host's
 * iteration goes on, with its error bound (the two phases of Wu, Gan, Wei, Zhang 2021, "Unifying the global and local approaches: an efficient power iteration with
 * forward push"). A query's result does not depend on the other queries, to the bit.
 */
export class PushPageRank implements PageRankSolver {
  readonly name = 'push';
  readonly #options: PageRankOptions;
  #walk: DampedWalk | null;

  /** @throws ConfigurationError for an unknown option or one out of range. */
  constructor(matrix: TransitionMatrix, settings: PageRankSettings = {}) {
    this.#options = parse(pushPageRankOptions, settings, 'options of push PageRank');
    this.#walk = prepareDampedWalk(matrix, this.#options.damping);
  }

  async solve(queries: readonly SeedSet[]): Promise<PageRankResult> {
    const walk = assertUsable(this.name, this.#walk);
    const { damping, tolerance } = this.#options;
    const nodes = walk.matrix.nodeIds.length;
    const seeds = buildSeedDistributions(walk.matrix, queries);
    const result = allocateResult(seeds.length, nodes);
    const crowded: number[] = [];
    for (const [query, distribution] of seeds.entries()) {
      const state = startAt(walk, distribution, result.scores.subarray(query * nodes, (query + 1) * nodes));
      pushWaiting(state, this.#options);
      result.errorBounds[query] = settle(state, tolerance);
      result.iterations[query] = state.work / countFullWork(walk.matrix);
      if (result.errorBounds[query]! > tolerance) crowded.push(query);
      await letEventsIn();
    }
    const change = (tolerance * (1 - damping)) / damping; // whose error bound is the tolerance
    await iterateInPlace(this.name, walk, { ...this.#options, tolerance: change }, seeds, crowded, result);
    return displayPageRank(result, walk.matrix.nodeIds);
  }

  dispose(): void {
    this.#walk = null;
  }
}

interface PushState {
  readonly matrix: TransitionMatrix;
  readonly damping: number;
  readonly seeds: SeedDistribution;
  /** [V] */
  readonly scores: Float64Array;
  /** [V] */
  readonly residuals: Float64Array;
  /** On its way from dangling nodes to the seeds. */
  returning: number;
  /** Edges followed and nodes pushed. */
  work: number;
}

/** All mass starts as residual of the seeds. */
function startAt({ matrix, damping }: DampedWalk, seeds: SeedDistribution, scores: Float64Array): PushState {
  const residuals = new Float64Array(scores.length);
  placeSeeds(seeds, 1, residuals);
  return { matrix, damping, seeds, scores, residuals, returning: 0, work: 0 };
}

/** The cost of following all edges once. */
function countFullWork({ nodeIds, probabilities }: TransitionMatrix): number {
  return nodeIds.length + probabilities.values.length;
}

/** Pushes until no residual is large for its node's edges, which makes their sum small enough, or too many nodes wait. */
function pushWaiting(state: PushState, { tolerance, maxIterations }: PageRankOptions): void {
  const { matrix, seeds, residuals } = state;
  const { offsets, columnOf } = matrix.probabilities;
  const full = countFullWork(matrix);
  // Scores take their share of the last residuals, which leaves damping of them as the error.
  const limit = tolerance / state.damping / full;
  const queue = new NodeQueue(residuals.length);
  const offer = (node: number) => {
    if (residuals[node]! > limit * (offsets[node + 1]! - offsets[node]! + 1)) queue.add(node);
  };
  seeds.positions.forEach(offer);
  while (queue.size > 0 && queue.size < CROWD * residuals.length && state.work < maxIterations * full) {
    const node = queue.take();
    pushNode(state, node);
    for (let entry = offsets[node]!; entry < offsets[node + 1]!; entry++) offer(columnOf[entry]!);
    if (queue.size > 0) continue;
    returnMassToSeeds(state);
    seeds.positions.forEach(offer);
  }
  returnMassToSeeds(state);
}

function pushNode(state: PushState, node: number): void {
  const { matrix, damping, scores, residuals } = state;
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

function returnMassToSeeds(state: PushState): void {
  placeSeeds(state.seeds, state.returning, state.residuals);
  state.returning = 0;
}

/**
 * Gives the scores 1 - damping of the residuals where what they then lack is tolerable, else all of them: the best guess to go on from, since its sum is right.
 *
 * @returns the missing mass of the scores in the first case.
 */
function settle({ damping, scores, residuals }: PushState, tolerance: number): number {
  let mass = 0;
  for (let node = 0; node < residuals.length; node++) mass += residuals[node]!;
  const share = damping * mass > tolerance ? 1 : 1 - damping;
  for (let node = 0; node < residuals.length; node++) scores[node]! += share * residuals[node]!;
  return damping * mass;
}
