import { ensureBackend } from '../../core/tensors/backend.ts';
import { letEventsIn } from '../../core/values/event-loop.ts';
import type { CandidatePool, Column } from '../signals/candidate-pool.ts';
import type { Workspace } from '../signals/workspace.ts';
import type { Arm } from './arm.ts';
import { warmUpSources } from './candidate-sources.ts';
import type { StepInput } from './steps/functions.ts';
import { type PendingScores, type RankState, runUnwatched, type Step, type Watch } from './steps/step.ts';
import { checkSteps, parseSteps, type RankOptions, readArm } from './written-steps.ts';

/** What a retriever made of every query: scores over its pool, and the parts that they were made of. */
export interface Retrieved {
  readonly pool: CandidatePool;
  /** [Q, C] */
  readonly scores: Column;
  /** By name, in the order in which they were applied. */
  readonly components: ReadonlyMap<string, Column>;
}

async function applySteps(
  steps: readonly Step[],
  { outline }: Arm,
  start: RankState,
  watch: Watch,
): Promise<Retrieved> {
  let state = start;
  for (const step of steps) state = await step.apply(state, outline, watch);
  const scores = await (state.scores as PendingScores).read(watch);
  return { pool: state.pool as CandidatePool, scores, components: state.components };
}

/** Nothing has been done yet. */
function createState(workspace: Workspace, { control }: Arm): RankState {
  return { workspace, world: workspace.under(control), pool: null, scores: null, components: new Map() };
}

const isList = (arm: RankOptions | readonly StepInput[]): arm is readonly StepInput[] => Array.isArray(arm);

/**
 * Finds every query's candidates, scores them, and reorders the best of them: one step of the arm after the other.
 *
 * @param arm the list of its steps, or an arm of a config.
 * @param watch receives the components in the order of their computation, each source's candidates within the pool.
 * @throws ConfigurationError for options that are no retriever's.
 */
export async function retrieve(
  workspace: Workspace,
  arm: RankOptions | readonly StepInput[],
  watch: Watch = runUnwatched,
): Promise<Retrieved> {
  if (isList(arm)) return retrieve(workspace, parseSteps(arm), watch);
  await letEventsIn();
  await ensureBackend();
  const checked = readArm(checkSteps(arm));
  return applySteps(checked.steps, checked, createState(workspace, checked), watch);
}

/** Scores candidates that have been found: the steps after the search. */
export async function scorePool(
  workspace: Workspace,
  pool: CandidatePool,
  options: RankOptions,
  watch: Watch = runUnwatched,
): Promise<Retrieved> {
  const arm = readArm(options);
  const found = arm.steps.findIndex(({ gives }) => gives === 'pool');
  const steps = arm.steps.slice(found + 1).filter(({ gives }) => gives !== 'ranking');
  return applySteps(steps, arm, { ...createState(workspace, arm), pool }, watch);
}

/** Builds everything that an arm needs and that does not depend on the queries, for a workspace made `withQueries`. */
export async function warmUp(workspace: Workspace, options: RankOptions): Promise<void> {
  const { steps, outline, control } = readArm(options);
  for (const { mix } of steps)
    if (mix !== null) await (await import('../signals/bank/table-filler.ts')).prepareSignals(workspace, mix.signals);
  const indexes = outline.sources.map(({ index }) => index);
  await warmUpSources(workspace, control, indexes, outline.view.propagation);
}
