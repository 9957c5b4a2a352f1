import { parse } from '../../core/validation/validation.ts';
import { type DampedWalk, iterateInPlace, prepareDampedWalk } from './in-place-iteration.ts';
import {
  allocateResult,
  assertUsable,
  displayPageRank,
  hostPageRankOptions,
  type PageRankOptions,
  type PageRankResult,
  type PageRankSettings,
  type PageRankSolver,
} from './pagerank-solver.ts';
import { buildSeedDistributions, placeSeeds, type SeedSet } from './seed-distribution.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** Power iteration in float64, in place and eight queries at a time; O(E) for each iteration and query. The reference among the solvers. */
export class HostPageRank implements PageRankSolver {
  readonly name = 'host';
  readonly #options: PageRankOptions;
  #walk: DampedWalk | null;

  /** @throws ConfigurationError for an unknown option or one out of range. */
  constructor(matrix: TransitionMatrix, settings: PageRankSettings = {}) {
    this.#options = parse(hostPageRankOptions, settings, 'options of host PageRank');
    this.#walk = prepareDampedWalk(matrix, this.#options.damping);
  }

  async solve(queries: readonly SeedSet[]): Promise<PageRankResult> {
    const walk = assertUsable(this.name, this.#walk);
    const nodes = walk.matrix.nodeIds.length;
    const seeds = buildSeedDistributions(walk.matrix, queries);
    const result = allocateResult(seeds.length, nodes);
    for (const [query, distribution] of seeds.entries())
      placeSeeds(distribution, 1, result.scores.subarray(query * nodes, (query + 1) * nodes));
    await iterateInPlace(this.name, walk, this.#options, seeds, [...seeds.keys()], result);
    return displayPageRank(result, walk.matrix.nodeIds);
  }

  dispose(): void {
    this.#walk = null;
  }
}
