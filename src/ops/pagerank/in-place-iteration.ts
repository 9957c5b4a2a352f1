import { ConvergenceError } from '../../core/errors/errors.ts';
import { type SparseMatrix, transpose } from '../../core/linear/sparse-matrix.ts';
import { letEventsIn } from '../../core/terminal/progress.ts';
import { boundError, type PageRankOptions, type PageRankResult } from './pagerank-solver.ts';
import type { SeedDistribution } from './seed-distribution.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** Queries that are iterated together: their eight ranks of a node fill one cache line, and eight sums stay in registers. */
const WIDTH = 8;
/** Fewer queries than this are faster one by one. */
const WORTH_A_BLOCK = 3;

/** The steps of a walk by where they lead, as an iteration needs them. */
export interface IncomingWalk {
  readonly damping: number;
  /** damping Pᵀ, [V, V]. */
  readonly incoming: SparseMatrix;
  /** [dangling nodes] positions of the nodes that no weight leaves. */
  readonly dangling: Int32Array;
}

/** A walk with its transition matrix. */
export interface DampedWalk extends IncomingWalk {
  readonly matrix: TransitionMatrix;
}

export function prepareDampedWalk(matrix: TransitionMatrix, damping: number): DampedWalk {
  const incoming = transpose(matrix.probabilities);
  const values = incoming.values.map((probability) => damping * probability);
  return { matrix, damping, incoming: { ...incoming, values }, dangling: matrix.dangling };
}

/**
 * Power iteration in float64 over compressed rows, in place: a node sees the ranks that the same iteration has already renewed (Gauss-Seidel), so that fewer are needed
 * (Arasu, Novak, Tomkins, Tomlin 2002, "PageRank computation and the structure of the web"). A query's result does not depend on the other queries, to the bit.
 *
 * @param seeds of all B queries.
 * @param queries those to iterate; their rows of scores in `result` are where they start, and are replaced.
 * @throws ConvergenceError
 */
export async function iterateInPlace(
  solver: string,
  walk: IncomingWalk,
  options: PageRankOptions,
  seeds: readonly SeedDistribution[],
  queries: readonly number[],
  result: PageRankResult,
): Promise<void> {
  for (let start = 0; start < queries.length; ) {
    const width = queries.length - start < WORTH_A_BLOCK ? 1 : WIDTH;
    iterateBlock(solver, walk, options, seeds, queries.slice(start, start + width), width, result);
    start += width;
    await letEventsIn();
  }
}

/** The columns of up to `width` queries, 1 or {@link WIDTH}; those without a query are zero. */
interface Block {
  readonly width: number;
  /** [V, width] */
  readonly ranks: Float64Array;
  /** [V, width] */
  readonly seeds: Float64Array;
  /** [V], 1 if a row of `seeds` is not zero: the others need not be read. */
  readonly isSeed: Uint8Array;
}

function allocateBlock(rows: readonly Float64Array[], seeds: readonly SeedDistribution[], width: number): Block {
  const nodes = rows[0]!.length;
  const block = {
    width,
    ranks: new Float64Array(nodes * width),
    seeds: new Float64Array(nodes * width),
    isSeed: new Uint8Array(nodes),
  };
  for (const [column, row] of rows.entries()) {
    for (let node = 0; node < nodes; node++) block.ranks[node * width + column] = row[node]!;
    const { positions, shares } = seeds[column]!;
    for (let i = 0; i < positions.length; i++) {
      block.seeds[positions[i]! * width + column] = shares[i]!;
      block.isSeed[positions[i]!] = 1;
    }
  }
  return block;
}

/** Iterates a block; each query keeps its scores at convergence. */
function iterateBlock(
  solver: string,
  walk: IncomingWalk,
  { tolerance, maxIterations }: PageRankOptions,
  seeds: readonly SeedDistribution[],
  queries: readonly number[],
  width: number,
  { scores, iterations, errorBounds }: PageRankResult,
): void {
  const nodes = walk.incoming.rows;
  const rows = queries.map((query) => scores.subarray(query * nodes, (query + 1) * nodes));
  const block = allocateBlock(
    rows,
    queries.map((query) => seeds[query]!),
    width,
  );
  const iterate = width === WIDTH ? iterateEight : iterateOne;
  const open = new Set(queries.keys());
  for (let iteration = 1; open.size > 0; iteration++) {
    const changes = iterate(walk.incoming, computeRestarts(walk, block), block);
    for (const column of open) {
      if (!(changes[column]! < tolerance)) continue;
      for (let node = 0; node < nodes; node++) rows[column]![node] = block.ranks[node * width + column]!;
      iterations[queries[column]!]! += iteration;
      errorBounds[queries[column]!] = boundError(changes[column]!, walk.damping);
      open.delete(column);
    }
    if (iteration === maxIterations && open.size > 0)
      throw new ConvergenceError(`${solver} PageRank`, maxIterations, tolerance, Math.max(...changes));
  }
}

/** The mass that returns to the seeds of each query: 1 - damping, and damping times the mass on dangling nodes. */
function computeRestarts({ dangling, damping }: IncomingWalk, { ranks, width }: Block): Float64Array {
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
  block: Block,
): Float64Array {
  const { ranks, seeds } = block;
  const restart = restarts[0]!;
  let change = 0;
  for (let row = 0; row < rows; row++) {
    const end = offsets[row + 1]!;
    let sum = 0;
    for (let entry = offsets[row]!; entry < end; entry++) sum += values[entry]! * ranks[columnOf[entry]!]!;
    sum += restart * seeds[row]!;
    change += Math.abs(sum - ranks[row]!);
    ranks[row] = sum;
  }
  return Float64Array.of(change);
}

/** The same for eight columns; written out, since sums in an array would go through memory at every edge. */
function iterateEight(
  { rows, offsets, columnOf, values }: SparseMatrix,
  restarts: Float64Array,
  block: Block,
): Float64Array {
  const { ranks, seeds, isSeed } = block;
  const changes = new Float64Array(WIDTH);
  for (let row = 0; row < rows; row++) {
    const end = offsets[row + 1]!;
    const to = row * WIDTH;
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
      s0 += value * ranks[at]!;
      s1 += value * ranks[at + 1]!;
      s2 += value * ranks[at + 2]!;
      s3 += value * ranks[at + 3]!;
      s4 += value * ranks[at + 4]!;
      s5 += value * ranks[at + 5]!;
      s6 += value * ranks[at + 6]!;
      s7 += value * ranks[at + 7]!;
    }
    if (isSeed[row] === 1) {
      s0 += restarts[0]! * seeds[to]!;
      s1 += restarts[1]! * seeds[to + 1]!;
      s2 += restarts[2]! * seeds[to + 2]!;
      s3 += restarts[3]! * seeds[to + 3]!;
      s4 += restarts[4]! * seeds[to + 4]!;
      s5 += restarts[5]! * seeds[to + 5]!;
      s6 += restarts[6]! * seeds[to + 6]!;
      s7 += restarts[7]! * seeds[to + 7]!;
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
