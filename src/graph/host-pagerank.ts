import { ConvergenceError } from '../core/errors.ts';
import { letEventsIn } from '../core/event-loop.ts';
import { parse } from '../core/validation.ts';
import { type SparseMatrix, transpose } from '../embedding/sparse-matrix.ts';
import {
  assertUsable,
  boundFromChange,
  emptyResult,
  hostPageRankOptions,
  type PageRankOptions,
  type PageRankResult,
  type PageRankSettings,
  type PageRankSolver,
} from './pagerank-solver.ts';
import { type SeedDistribution, type SeedSet, seedDistributions } from './seed-distribution.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** Queries that are iterated together: their eight ranks of a node fill one cache line, and eight sums stay in registers. */
const WIDTH = 8;
/** Fewer queries than this are faster one by one. */
const WORTH_A_BLOCK = 3;

interface Walk {
  readonly matrix: TransitionMatrix;
  /** damping Pᵀ. */
  readonly incoming: SparseMatrix;
}

/**
 * Power iteration in float64 over compressed rows. O(E) for each iteration and query, of which there are log(tolerance) / log(damping) at most. A query's result does
 * not depend, to the bit, on the queries beside it.
 */
export class HostPageRank implements PageRankSolver {
  readonly name = 'host';
  readonly #options: PageRankOptions;
  #walk: Walk | null;

  /** @throws ConfigurationError for an unknown option or one out of range. */
  constructor(matrix: TransitionMatrix, settings: PageRankSettings = {}) {
    this.#options = parse(hostPageRankOptions, settings, 'options of host PageRank');
    const incoming = transpose(matrix.probabilities);
    const values = incoming.values.map((probability) => this.#options.damping * probability);
    this.#walk = { matrix, incoming: { ...incoming, values } };
  }

  async solve(queries: readonly SeedSet[]): Promise<PageRankResult> {
    const walk = assertUsable(this.name, this.#walk);
    const seeds = seedDistributions(walk.matrix, queries);
    const result = emptyResult(seeds.length, walk.matrix.nodeIds.length);
    for (let start = 0; start < seeds.length; ) {
      const width = seeds.length - start < WORTH_A_BLOCK ? 1 : WIDTH;
      solveBlock(walk, this.#options, seeds.slice(start, start + width), width, start, result);
      start += width;
      await letEventsIn();
    }
    return result;
  }

  dispose(): void {
    this.#walk = null;
  }
}

/** Iterates up to `width` queries; each is kept as it was when it converged. Columns without a query are zero. */
function solveBlock(
  walk: Walk,
  { damping, tolerance, maxIterations }: PageRankOptions,
  seeds: readonly SeedDistribution[],
  width: number,
  first: number,
  result: PageRankResult,
): void {
  const nodes = walk.matrix.nodeIds.length;
  let ranks = new Float64Array(nodes * width);
  let next = new Float64Array(nodes * width);
  for (const [query, distribution] of seeds.entries()) addSeeds(ranks, width, query, distribution, 1);
  const open = new Set(seeds.keys());
  for (let iteration = 1; open.size > 0; iteration++) {
    step(walk, damping, seeds, width, ranks, next);
    const changes = changesOf(ranks, next, width);
    [ranks, next] = [next, ranks];
    for (const query of open) {
      if (!(changes[query]! < tolerance)) continue;
      for (let node = 0; node < nodes; node++)
        result.scores[(first + query) * nodes + node] = ranks[node * width + query]!;
      result.iterations[first + query] = iteration;
      result.errorBounds[first + query] = boundFromChange(changes[query]!, damping);
      open.delete(query);
    }
    if (iteration === maxIterations && open.size > 0)
      throw new ConvergenceError('host PageRank', maxIterations, tolerance, Math.max(...changes));
  }
}

/** next = damping Pᵀ ranks + (1 - damping + damping × mass on dangling nodes) seeds, all [V, width]. */
function step(
  { matrix, incoming }: Walk,
  damping: number,
  seeds: readonly SeedDistribution[],
  width: number,
  ranks: Float64Array,
  next: Float64Array,
): void {
  if (width === WIDTH) multiplyEight(incoming, ranks, next);
  else multiplyOne(incoming, ranks, next);
  for (const [query, distribution] of seeds.entries()) {
    let lost = 0;
    for (let i = 0; i < matrix.dangling.length; i++) lost += ranks[matrix.dangling[i]! * width + query]!;
    addSeeds(next, width, query, distribution, 1 - damping + damping * lost);
  }
}

function addSeeds(ranks: Float64Array, width: number, query: number, seeds: SeedDistribution, mass: number): void {
  const { positions, shares } = seeds;
  for (let i = 0; i < positions.length; i++) ranks[positions[i]! * width + query]! += mass * shares[i]!;
}

/** The L1 distance of each column. */
function changesOf(ranks: Float64Array, next: Float64Array, width: number): Float64Array {
  const changes = new Float64Array(width);
  for (let at = 0; at < ranks.length; at += width) {
    for (let query = 0; query < width; query++) changes[query]! += Math.abs(next[at + query]! - ranks[at + query]!);
  }
  return changes;
}

/** product = a · dense, one column. */
function multiplyOne({ rows, offsets, columnOf, values }: SparseMatrix, dense: Float64Array, product: Float64Array) {
  for (let row = 0; row < rows; row++) {
    const end = offsets[row + 1]!;
    let sum = 0;
    for (let entry = offsets[row]!; entry < end; entry++) sum += values[entry]! * dense[columnOf[entry]!]!;
    product[row] = sum;
  }
}

/** product = a · dense, eight columns; written out, since sums in an array would go through memory at every edge. */
function multiplyEight({ rows, offsets, columnOf, values }: SparseMatrix, dense: Float64Array, product: Float64Array) {
  for (let row = 0; row < rows; row++) {
    const end = offsets[row + 1]!;
    let s0 = 0;
    let s1 = 0;
    let s2 = 0;
    let s3 = 0;
    let s4 = 0;
    let s5 = 0;
    let s6 = 0;
    let s7 = 0;
    for (let entry = offsets[row]!; entry < end; entry++) {
      const value = values[entry]!;
      const at = columnOf[entry]! * WIDTH;
      s0 += value * dense[at]!;
      s1 += value * dense[at + 1]!;
      s2 += value * dense[at + 2]!;
      s3 += value * dense[at + 3]!;
      s4 += value * dense[at + 4]!;
      s5 += value * dense[at + 5]!;
      s6 += value * dense[at + 6]!;
      s7 += value * dense[at + 7]!;
    }
    const to = row * WIDTH;
    product[to] = s0;
    product[to + 1] = s1;
    product[to + 2] = s2;
    product[to + 3] = s3;
    product[to + 4] = s4;
    product[to + 5] = s5;
    product[to + 6] = s6;
    product[to + 7] = s7;
  }
}
