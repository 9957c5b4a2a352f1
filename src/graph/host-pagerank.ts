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
 * Power iteration in float64 over compressed rows, in place: a node sees the ranks that the same iteration has already renewed (Gauss-Seidel), which takes about half
 * the iterations (Arasu, Novak, Tomkins, Tomlin 2002, "PageRank computation and the structure of the web"). O(E) for each iteration and query. A query's result does
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
  distributions: readonly SeedDistribution[],
  width: number,
  first: number,
  result: PageRankResult,
): void {
  const nodes = walk.matrix.nodeIds.length;
  const seeds = seedColumns(distributions, nodes, width);
  const ranks = seeds.slice();
  const iterate = width === WIDTH ? iterateEight : iterateOne;
  const open = new Set(distributions.keys());
  for (let iteration = 1; open.size > 0; iteration++) {
    const changes = iterate(walk.incoming, restartsOf(walk.matrix, damping, ranks, width), seeds, ranks);
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

/** @returns [V, width] */
function seedColumns(distributions: readonly SeedDistribution[], nodes: number, width: number): Float64Array {
  const columns = new Float64Array(nodes * width);
  for (const [query, { positions, shares }] of distributions.entries()) {
    for (let i = 0; i < positions.length; i++) columns[positions[i]! * width + query] = shares[i]!;
  }
  return columns;
}

/** What returns to the seeds of each query: 1 - damping, and damping times the mass on dangling nodes. */
function restartsOf({ dangling }: TransitionMatrix, damping: number, ranks: Float64Array, width: number): Float64Array {
  const restarts = new Float64Array(width);
  for (let i = 0; i < dangling.length; i++) {
    const at = dangling[i]! * width;
    for (let query = 0; query < width; query++) restarts[query]! += ranks[at + query]!;
  }
  return restarts.map((lost) => 1 - damping + damping * lost);
}

/**
 * Renews one column of ranks.
 *
 * @returns its L1 change.
 */
function iterateOne(
  { rows, offsets, columnOf, values }: SparseMatrix,
  restarts: Float64Array,
  seeds: Float64Array,
  ranks: Float64Array,
): Float64Array {
  const restart = restarts[0]!;
  let change = 0;
  for (let row = 0; row < rows; row++) {
    const end = offsets[row + 1]!;
    let sum = restart * seeds[row]!;
    for (let entry = offsets[row]!; entry < end; entry++) sum += values[entry]! * ranks[columnOf[entry]!]!;
    change += Math.abs(sum - ranks[row]!);
    ranks[row] = sum;
  }
  return Float64Array.of(change);
}

/** The same for eight columns; written out, since sums in an array would go through memory at every edge. */
function iterateEight(
  { rows, offsets, columnOf, values }: SparseMatrix,
  restarts: Float64Array,
  seeds: Float64Array,
  ranks: Float64Array,
): Float64Array {
  const changes = new Float64Array(WIDTH);
  for (let row = 0; row < rows; row++) {
    const end = offsets[row + 1]!;
    const to = row * WIDTH;
    let s0 = restarts[0]! * seeds[to]!;
    let s1 = restarts[1]! * seeds[to + 1]!;
    let s2 = restarts[2]! * seeds[to + 2]!;
    let s3 = restarts[3]! * seeds[to + 3]!;
    let s4 = restarts[4]! * seeds[to + 4]!;
    let s5 = restarts[5]! * seeds[to + 5]!;
    let s6 = restarts[6]! * seeds[to + 6]!;
    let s7 = restarts[7]! * seeds[to + 7]!;
    for (let entry = offsets[row]!; entry < end; entry++) {
      const value = values[entry]!;
      const at = columnOf[entry]! * WIDTH;
      s0 += value * ranks[at]!;
      s1 += value * ranks[at + 1]!;
      s2 += value * ranks[at + 2]!;
      s3 += value * ranks[at + 3]!;
      s4 += value * ranks[at + 4]!;
      s5 += value * ranks[at + 5]!;
      s6 += value * ranks[at + 6]!;
      s7 += value * ranks[at + 7]!;
    }
    changes[0]! += Math.abs(s0 - ranks[to]!);
    changes[1]! += Math.abs(s1 - ranks[to + 1]!);
    changes[2]! += Math.abs(s2 - ranks[to + 2]!);
    changes[3]! += Math.abs(s3 - ranks[to + 3]!);
    changes[4]! += Math.abs(s4 - ranks[to + 4]!);
    changes[5]! += Math.abs(s5 - ranks[to + 5]!);
    changes[6]! += Math.abs(s6 - ranks[to + 6]!);
    changes[7]! += Math.abs(s7 - ranks[to + 7]!);
    ranks[to] = s0;
    ranks[to + 1] = s1;
    ranks[to + 2] = s2;
    ranks[to + 3] = s3;
    ranks[to + 4] = s4;
    ranks[to + 5] = s5;
    ranks[to + 6] = s6;
    ranks[to + 7] = s7;
  }
  return changes;
}
