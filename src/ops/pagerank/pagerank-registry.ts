import { z } from 'zod';
import { loadOnBackend } from '../../core/tensors/backend.ts';
import { type Lazy, type NamingOptions, OptionsRegistry } from '../../core/validation/registry.ts';
import {
  hostPageRankOptions,
  type PageRankSettings,
  type PageRankSolver,
  pushPageRankOptions,
  tensorPageRankOptions,
} from './pagerank-solver.ts';
import type { TransitionMatrix } from './transition-matrix.ts';

type SolverClass = new (matrix: TransitionMatrix, settings: PageRankSettings) => PageRankSolver;

function member<S extends NamingOptions<'solver'>>(
  options: S,
  description: string,
  load: () => Promise<SolverClass>,
): Lazy<{ readonly options: S; readonly description: string }, SolverClass> {
  return { options, description, load };
}

/** Every solver: to add one takes its file and an entry here. */
export const PAGERANK_SOLVERS = new OptionsRegistry('solver', [
  member(
    hostPageRankOptions.extend({ solver: z.literal('host') }),
    'power iteration in place, float64 on the host',
    async () => (await import('./host-pagerank.ts')).HostPageRank,
  ),
  member(
    tensorPageRankOptions.extend({ solver: z.literal('sparse-tensor') }),
    'power iteration on the active backend, over a list of edges',
    async () => (await loadOnBackend(() => import('./sparse-tensor-pagerank.ts'))).SparseTensorPageRank,
  ),
  member(
    tensorPageRankOptions.extend({ solver: z.literal('dense-tensor') }),
    'power iteration on the active backend, over a full matrix: for small graphs',
    async () => (await loadOnBackend(() => import('./dense-tensor-pagerank.ts'))).DenseTensorPageRank,
  ),
  member(
    pushPageRankOptions.extend({ solver: z.literal('push') }),
    'forward push on the host, which follows only edges that matter',
    async () => (await import('./push-pagerank.ts')).PushPageRank,
  ),
]);

/** The options of every solver, distinguished by `solver`; unknown keys are refused. */
export const pageRankOptions = PAGERANK_SOLVERS.options;
/** The options of a caller: missing ones have defaults. */
export type PageRankSolverInput = z.input<typeof pageRankOptions>;

/** A solver by its name. @throws ConfigurationError for an unknown option or one out of range. */
export async function createPageRankSolver(
  matrix: TransitionMatrix,
  options: PageRankSolverInput,
): Promise<PageRankSolver> {
  const { solver, ...settings } = options;
  const Solver = await PAGERANK_SOLVERS.get(solver).load();
  return new Solver(matrix, settings);
}
