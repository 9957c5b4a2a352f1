import { ConvergenceError } from '../core/errors.ts';
import { letEventsIn } from '../core/event-loop.ts';
import { parse } from '../core/validation.ts';
import { NodeQueue } from './node-queue.ts';
import {
  assertUsable,
  emptyResult,
  type PageRankOptions,
  type PageRankResult,
  type PageRankSettings,
  type PageRankSolver,
  pushPageRankOptions,
} from './pagerank-solver.ts';
import { massesOf, type PushBlock, pushNode, returnToSeeds, startBlock, sweep, WIDTH } from './push-block.ts';
import { type SeedSet, seedDistributions } from './seed-distribution.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** Waiting nodes, as a share of all, from which on going through all nodes in order is faster than a queue. */
const CROWD = 0.05;
/** A sweep passes over nodes whose residual is below this share of the average: they gather more before the next. */
const WORTH_PUSHING = 0.3;
/** Fewer queries than this are faster one by one. */
const WORTH_A_BLOCK = 3;

/**
 * Forward push (Andersen, Chung, Lang 2006, "Local graph partitioning using PageRank vectors"). Every node has a score and a residual; pushing a node moves 1 - damping
 * of its residual into its score and the rest along its edges. The residuals are never negative and their sum is what the scores lack, so that the error bound is the
 * error itself, and no score exceeds the exact one. What reaches a dangling node goes back to the seeds.
 *
 * Nodes wait in a queue while they are few, so that only the surroundings of the seeds are touched; when they become many all nodes are swept in order (Wu, Gan, Wei,
 * Zhang 2021, "Unifying the global and local approaches: an efficient power iteration with forward push"). Follows O(1 / tolerance) or O(E log(1 / tolerance)) edges,
 * whichever is fewer, beside O(V) for each query to read the result. A query's result does not depend, to the bit, on the queries beside it.
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
    const result = emptyResult(seeds.length, matrix.nodeIds.length);
    for (let start = 0; start < seeds.length; ) {
      const width = seeds.length - start < WORTH_A_BLOCK ? 1 : WIDTH;
      const block = startBlock(matrix, this.#options.damping, seeds.slice(start, start + width), width);
      keep(block, push(block, this.#options), start, result);
      start += width;
      await letEventsIn();
    }
    return result;
  }

  dispose(): void {
    this.#matrix = null;
  }
}

/** What following all edges once costs. */
function fullWork({ nodeIds, probabilities }: TransitionMatrix): number {
  return nodeIds.length + probabilities.values.length;
}

/** @returns the residual mass that is left of each query, [width]. */
function push(block: PushBlock, { damping, tolerance, maxIterations }: PageRankOptions): Float64Array {
  const full = fullWork(block.matrix);
  // The scores take their share of the last residuals, which leaves damping of them as the error.
  const enough = tolerance / damping;
  for (const query of block.seeds.keys()) pushWaiting(block, query, enough / full);
  let masses = massesOf(block);
  while (masses.some((mass) => mass > enough)) {
    for (const [query, mass] of masses.entries()) {
      if (mass > enough && block.work[query]! >= maxIterations * full)
        throw new ConvergenceError('push PageRank', maxIterations, tolerance, damping * mass);
    }
    // Below the average, so that some node is pushed in every sweep; none of a query that is done.
    const limitOf = (mass: number) =>
      mass > enough ? Math.max(enough / 2, WORTH_PUSHING * mass) / full : Number.POSITIVE_INFINITY;
    sweep(block, masses.map(limitOf));
    masses = massesOf(block);
  }
  return masses;
}

/** Pushes from a queue until no residual is above the limit for each of its node's edges and itself, or too many nodes wait. */
function pushWaiting(block: PushBlock, query: number, limit: number): void {
  const { matrix, residuals, width } = block;
  const { offsets, columnOf } = matrix.probabilities;
  const { positions } = block.seeds[query]!;
  const nodes = matrix.nodeIds.length;
  const queue = new NodeQueue(nodes);
  const offer = (node: number) => {
    if (residuals[node * width + query]! > limit * (offsets[node + 1]! - offsets[node]! + 1)) queue.add(node);
  };
  positions.forEach(offer);
  while (queue.size > 0 && queue.size < CROWD * nodes) {
    const node = queue.take();
    pushNode(block, query, node);
    for (let entry = offsets[node]!; entry < offsets[node + 1]!; entry++) offer(columnOf[entry]!);
    if (queue.size > 0) continue;
    returnToSeeds(block, query);
    positions.forEach(offer);
  }
}

/** Gives the scores their share of the last residuals and puts them in their rows. */
function keep(block: PushBlock, masses: Float64Array, first: number, result: PageRankResult): void {
  const { matrix, damping, width, scores, residuals, work } = block;
  const nodes = matrix.nodeIds.length;
  for (const query of block.seeds.keys()) {
    returnToSeeds(block, query);
    const row = (first + query) * nodes;
    for (let node = 0; node < nodes; node++) {
      const at = node * width + query;
      result.scores[row + node] = scores[at]! + (1 - damping) * residuals[at]!;
    }
    result.iterations[first + query] = work[query]! / fullWork(matrix);
    result.errorBounds[first + query] = damping * masses[query]!;
  }
}
