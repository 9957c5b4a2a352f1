import type { SparseMatrix } from '../embedding/sparse-matrix.ts';
import type { SeedDistribution } from './seed-distribution.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** Queries that are swept together: their residuals of a node fill one cache line, and every edge is read once for all. */
export const WIDTH = 8;

/** Forward push of up to `width` queries, 1 or {@link WIDTH}, that do not touch each other; columns without a query stay zero. */
export interface PushBlock {
  readonly matrix: TransitionMatrix;
  readonly damping: number;
  readonly seeds: readonly SeedDistribution[];
  readonly width: number;
  /** [V, width] */
  readonly scores: Float64Array;
  /** [V, width] */
  readonly residuals: Float64Array;
  /** [width], on its way from dangling nodes to the seeds. */
  readonly returning: Float64Array;
  /** [width], edges followed and nodes looked at. */
  readonly work: Float64Array;
}

/** All mass of a query starts as residual of its seeds. */
export function startBlock(
  matrix: TransitionMatrix,
  damping: number,
  seeds: readonly SeedDistribution[],
  width: number,
): PushBlock {
  const size = matrix.nodeIds.length * width;
  const block = {
    matrix,
    damping,
    seeds,
    width,
    scores: new Float64Array(size),
    residuals: new Float64Array(size),
    returning: new Float64Array(width).fill(1, 0, seeds.length),
    work: new Float64Array(width),
  };
  for (const query of seeds.keys()) returnToSeeds(block, query);
  return block;
}

export function returnToSeeds({ seeds, width, residuals, returning }: PushBlock, query: number): void {
  const { positions, shares } = seeds[query]!;
  for (let i = 0; i < positions.length; i++)
    residuals[positions[i]! * width + query]! += returning[query]! * shares[i]!;
  returning[query] = 0;
}

/** What the scores of each query still lack, [width]. */
export function massesOf({ width, residuals, returning }: PushBlock): Float64Array {
  const masses = returning.slice();
  for (let at = 0; at < residuals.length; at += width) {
    for (let query = 0; query < width; query++) masses[query]! += residuals[at + query]!;
  }
  return masses;
}

/** Pushes one node for one query. */
export function pushNode(
  { matrix, damping, width, scores, residuals, returning, work }: PushBlock,
  query: number,
  node: number,
): void {
  const { offsets, columnOf, values } = matrix.probabilities;
  const begin = offsets[node]!;
  const end = offsets[node + 1]!;
  const at = node * width + query;
  const residual = residuals[at]!;
  residuals[at] = 0;
  scores[at]! += (1 - damping) * residual;
  const sent = damping * residual;
  if (begin === end) returning[query]! += sent;
  for (let entry = begin; entry < end; entry++) residuals[columnOf[entry]! * width + query]! += sent * values[entry]!;
  work[query]! += end - begin + 1;
}

/**
 * Pushes every node in order, for each query for which it has more residual than the query's limit for each of its edges and itself.
 *
 * @param limits [width]
 */
export function sweep(block: PushBlock, limits: Float64Array): void {
  for (const query of block.seeds.keys()) returnToSeeds(block, query);
  if (block.width === WIDTH) sweepEight(block, block.matrix.probabilities, limits);
  else sweepOne(block, block.matrix.probabilities, limits[0]!);
}

function sweepOne(block: PushBlock, { rows, offsets }: SparseMatrix, limit: number): void {
  const { residuals, work } = block;
  for (let node = 0; node < rows; node++) {
    if (residuals[node]! > limit * (offsets[node + 1]! - offsets[node]! + 1)) pushNode(block, 0, node);
    else work[0]!++;
  }
}

/** Long because it is written out: sums in an array would go through memory once more at every edge. */
function sweepEight(block: PushBlock, { rows, offsets, columnOf, values }: SparseMatrix, limits: Float64Array): void {
  const { residuals, damping } = block;
  const sent = new Float64Array(WIDTH);
  for (let node = 0; node < rows; node++) {
    const begin = offsets[node]!;
    const end = offsets[node + 1]!;
    if (!takeEight(block, limits, node, end - begin + 1, sent)) continue;
    const s0 = damping * sent[0]!;
    const s1 = damping * sent[1]!;
    const s2 = damping * sent[2]!;
    const s3 = damping * sent[3]!;
    const s4 = damping * sent[4]!;
    const s5 = damping * sent[5]!;
    const s6 = damping * sent[6]!;
    const s7 = damping * sent[7]!;
    for (let entry = begin; entry < end; entry++) {
      const value = values[entry]!;
      const to = columnOf[entry]! * WIDTH;
      residuals[to]! += s0 * value;
      residuals[to + 1]! += s1 * value;
      residuals[to + 2]! += s2 * value;
      residuals[to + 3]! += s3 * value;
      residuals[to + 4]! += s4 * value;
      residuals[to + 5]! += s5 * value;
      residuals[to + 6]! += s6 * value;
      residuals[to + 7]! += s7 * value;
    }
  }
}

/**
 * Takes the residuals of a node that are above their limits, and keeps 1 - damping of them.
 *
 * @param taken [8], filled with them; 0 for a query for which the node is not pushed.
 * @returns whether damping of them is to be sent along edges.
 */
function takeEight(
  { damping, scores, residuals, returning, work }: PushBlock,
  limits: Float64Array,
  node: number,
  span: number,
  taken: Float64Array,
): boolean {
  let any = false;
  for (let query = 0; query < WIDTH; query++) {
    const at = node * WIDTH + query;
    const residual = residuals[at]!;
    if (!(residual > limits[query]! * span)) {
      taken[query] = 0;
      work[query]!++;
      continue;
    }
    any = true;
    taken[query] = residual;
    residuals[at] = 0;
    scores[at]! += (1 - damping) * residual;
    work[query]! += span;
    if (span === 1) returning[query]! += damping * residual;
  }
  return any && span > 1;
}
