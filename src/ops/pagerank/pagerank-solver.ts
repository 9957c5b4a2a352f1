import { z } from 'zod';
import { attachDisplay, buildTableBundle, phrase, stateShown } from '../../core/display/display.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import type { SeedSet } from './seed-distribution.ts';

/** Nodes shown of each query. */
const SHOWN_NODES = 5;
/** Only these are sorted: a graph may be large, and the queries many. */
const SHOWN_QUERIES = 6;

/** Lets a notebook show the nodes with the highest scores of each query. @returns the same object. */
export function displayPageRank(result: PageRankResult, nodeIds: readonly string[]): PageRankResult {
  return attachDisplay(result, ({ scores, iterations, errorBounds }) => {
    const rows = Array.from(errorBounds.subarray(0, SHOWN_QUERIES), (errorBound, query) => {
      const row = scores.subarray(query * nodeIds.length, (query + 1) * nodeIds.length);
      const order = Array.from(row.keys()).sort((a, b) => (row[b] as number) - (row[a] as number) || a - b);
      return order.slice(0, SHOWN_NODES).map((node) => ({
        query,
        node: stateShown(nodeIds[node] as string),
        score: row[node],
        iterations: iterations[query],
        errorBound,
      }));
    });
    const queries = errorBounds.length === 1 ? phrase`1 query` : phrase`${errorBounds.length} queries`;
    const shown = errorBounds.length > SHOWN_QUERIES ? phrase`the first ${SHOWN_QUERIES} queries` : phrase`each query`;
    const caption = phrase`PageRank of ${queries} over ${nodeIds.length} nodes; the first ${SHOWN_NODES} of ${shown}`;
    return buildTableBundle(rows.flat(), { caption });
  });
}

/**
 * Solves r = (1 - damping) s + damping (Pᵀ r + m s) for a batch of queries: P a {@link TransitionMatrix}, s a query's seeds normalised to sum 1, m the mass of r on
 * dangling nodes, which returns to the seeds (personalised PageRank, Haveliwala 2002).
 */
export interface PageRankSolver {
  readonly name: string;
  /**
   * @param queries B seed sets, each of them sparse.
   * @throws ValidationError for a seed set that is empty or names a node that the graph lacks; ConvergenceError where maxIterations were not enough.
   */
  solve(queries: readonly SeedSet[]): Promise<PageRankResult>;
  /** Frees the solver's memory; later use throws. */
  dispose(): void;
}

/** Scores of S seed distributions over N nodes, with the iterations and the bound on the error of each. */
export interface PageRankResult {
  /** Row-major [B, V] in the order of the matrix' nodeIds. A row sums to 1; that of forward push to 1 less its error bound. */
  readonly scores: Float64Array;
  /** [B] how often all edges were followed; a fraction for forward push, which follows some. */
  readonly iterations: Float64Array;
  /** [B] at most the L1 distance from the exact scores, in exact arithmetic: float32 tensors round besides. */
  readonly errorBounds: Float64Array;
}

export function allocateResult(queries: number, nodes: number): PageRankResult {
  return {
    scores: new Float64Array(queries * nodes),
    iterations: new Float64Array(queries),
    errorBounds: new Float64Array(queries),
  };
}

const shared = {
  /** The probability of following an edge rather than returning to the seeds. */
  damping: z.number().min(0).lt(1).default(0.5),
  /** The maximum number of iterations, or of equivalent work; not converging within it is an error. */
  maxIterations: z.int().min(1).default(100),
};

/** For float64 on the host: `tolerance` is the L1 change of an iteration. */
export const hostPageRankOptions = z.strictObject({ ...shared, tolerance: z.number().positive().default(1e-10) });
/** For float32 tensors: the same, but a change below about 1e-7 cannot be distinguished from rounding. */
export const tensorPageRankOptions = z.strictObject({ ...shared, tolerance: z.number().positive().default(1e-6) });
/** For forward push: `tolerance` is the error bound to reach. */
export const pushPageRankOptions = z.strictObject({ ...shared, tolerance: z.number().positive().default(1e-6) });

/** Damping, tolerance and the most iterations of personalised PageRank. */
export type PageRankOptions = z.output<typeof hostPageRankOptions>;
/** The options of a caller: missing ones have defaults, an unknown key is an error. */
export type PageRankSettings = z.input<typeof hostPageRankOptions>;

/** Damping and the L1 distance from the exact scores that may remain. */
export type WalkOptions = Pick<PageRankOptions, 'damping' | 'tolerance'>;

/**
 * The steps after which power iteration from the seeds is near enough: a step multiplies the L1 distance from the exact
 * scores, which is 2 at most, by damping or less. So 2 damping^steps <= tolerance.
 */
export function countWalkSteps({ damping, tolerance }: WalkOptions): number {
  return damping === 0 ? 1 : Math.max(1, Math.ceil(Math.log(tolerance / 2) / Math.log(damping)));
}

/**
 * @param change L1 change of the last iteration.
 * @returns the L1 distance from the fixed point at most. With M the matrix of a step and U its part that still saw old ranks (all of it, or less where ranks are
 * renewed in place), what the new ranks lack of the equation is U change, |U|₁ <= damping, and |(I - M)⁻¹|₁ <= 1 / (1 - damping).
 */
export function boundError(change: number, damping: number): number {
  return (change * damping) / (1 - damping);
}

/** @throws ValidationError for a solver that was disposed. */
export function assertUsable<T>(solver: string, held: T | null): T {
  if (held === null) throw new ValidationError(`solver was disposed: ${solver}; make a new solver`, { solver });
  return held;
}
