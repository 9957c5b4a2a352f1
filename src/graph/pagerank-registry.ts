import { z } from 'zod';
import { frozen } from '../core/frozen.ts';
import { DenseTensorPageRank } from './dense-tensor-pagerank.ts';
import { HostPageRank } from './host-pagerank.ts';
import {
  hostPageRankOptions,
  type PageRankSettings,
  type PageRankSolver,
  pushPageRankOptions,
  tensorPageRankOptions,
} from './pagerank-solver.ts';
import { PushPageRank } from './push-pagerank.ts';
import { SparseTensorPageRank } from './sparse-tensor-pagerank.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

/** The options of every solver, told apart by `solver`; unknown keys are refused. */
export const pageRankOptions = z.discriminatedUnion('solver', [
  hostPageRankOptions.extend({ solver: z.literal('host') }),
  tensorPageRankOptions.extend({ solver: z.literal('sparse-tensor') }),
  tensorPageRankOptions.extend({ solver: z.literal('dense-tensor') }),
  pushPageRankOptions.extend({ solver: z.literal('push') }),
]);
export type PageRankSolverOptions = z.output<typeof pageRankOptions>;
export type PageRankSolverName = PageRankSolverOptions['solver'];

type SolverClass = new (matrix: TransitionMatrix, settings: PageRankSettings) => PageRankSolver;

/** Every solver by its name in a config. */
export const PAGERANK_SOLVERS: Readonly<Record<PageRankSolverName, SolverClass>> = frozen({
  host: HostPageRank,
  'sparse-tensor': SparseTensorPageRank,
  'dense-tensor': DenseTensorPageRank,
  push: PushPageRank,
});

export function createPageRankSolver(matrix: TransitionMatrix, options: PageRankSolverOptions): PageRankSolver {
  const { solver, ...settings } = options;
  return new PAGERANK_SOLVERS[solver](matrix, settings);
}
