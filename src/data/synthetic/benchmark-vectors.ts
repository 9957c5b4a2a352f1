import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { freezeDeeply } from '../../core/values/once.ts';

/** The columns of the coordinates, in the order of five trajectory coordinates, and the ends of their uniform distributions. */
export const BENCHMARK_COORDINATES = freezeDeeply([
  { name: 'depth', from: 0, to: 1 },
  { name: 'siblingOrder', from: 0, to: 1 },
  { name: 'homogeneity', from: 0.5, to: 1 },
  { name: 'temporal', from: 0, to: 1 },
  { name: 'complexity', from: 1, to: 10 },
] as const);

/** How many vectors and coordinates to draw, their dimension, and the seed. */
export interface BenchmarkSize {
  /** N */
  readonly count: number;
  /** D; by default 768. */
  readonly dimension?: number;
  /** By default 1. */
  readonly seed?: number;
}

/** Vectors and coordinates without any structure. */
export interface BenchmarkData {
  /** D */
  readonly dimension: number;
  /** Row-major [N, D], rows of length 1 in directions drawn uniformly. */
  readonly vectors: Float32Array;
  /** Row-major [N, 5], the columns of {@link BENCHMARK_COORDINATES}. */
  readonly coordinates: Float32Array;
}

function assertSize(what: string, value: number): void {
  if (!Number.isInteger(value) || value < 1)
    throw new ValidationError(`${what} is no positive integer: ${value}; pass an integer from 1`, { [what]: value });
}

/** Fills one row with a direction. */
function drawDirection(row: Float32Array, drawNormal: () => number): void {
  let square = 0;
  for (let d = 0; d < row.length; d++) {
    const value = drawNormal();
    row[d] = value;
    square += value * value;
  }
  const length = Math.sqrt(square);
  for (let d = 0; d < row.length; d++) row[d] = (row[d] as number) / length;
}

/**
 * The synthetic benchmark of appendix B.2 of diomande2026ragpp: Gaussian vectors scaled to length 1, and uniform coordinates (complexity in [1, 10], not scaled
 * by its maximum). The first rows are the same for every count. Vectors and coordinates have streams of their own. O(N D) time, 4 N (D + 5) bytes.
 *
 * @throws ValidationError for a count or a dimension that is no positive integer.
 */
export function drawBenchmarkData({ count, dimension = 768, seed = 1 }: BenchmarkSize): BenchmarkData {
  assertSize('count', count);
  assertSize('dimension', dimension);
  const vectors = new Float32Array(count * dimension);
  const normal = createRandom(seed, `benchmark vectors ${dimension}`);
  for (let row = 0; row < count; row++)
    drawDirection(vectors.subarray(row * dimension, (row + 1) * dimension), () => normal.drawNormal());
  const width = BENCHMARK_COORDINATES.length;
  const coordinates = new Float32Array(count * width);
  const uniform = createRandom(seed, 'benchmark coordinates');
  for (let at = 0; at < coordinates.length; at++) {
    const { from, to } = BENCHMARK_COORDINATES[at % width] as (typeof BENCHMARK_COORDINATES)[number];
    coordinates[at] = from + (to - from) * uniform.uniform();
  }
  return { dimension, vectors, coordinates };
}
