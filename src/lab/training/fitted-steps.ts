import type { Run } from '../../model/run.ts';
import type { ScoringModel } from '../../rank/learning/model.ts';
import { nameParameterValues } from '../../rank/learning/parameters.ts';
import { countUnrankedChanges, type StepChange } from '../../rank/retrieval/step-changes.ts';
import type { StepEffect } from '../measure/result.ts';
import { assertStepsApplied, describeSteps } from '../run/arm-record.ts';
import { BASELINE, describeMethod } from './fitted-methods.ts';
import type { LearningTask } from './learning-task.ts';
import type { TrainingConfig } from './training-config.ts';

/** Methods that take their weights as they are: what the fitted ones are compared with. */
const UNFITTED: readonly string[] = [BASELINE, 'uniform'];

/**
 * The number of queries that a mix changes: those whose first ranks differ from the ranks of equal scores.
 *
 * @param tied the rankings of the same candidates by equal scores.
 */
export function countMixed(run: Run, tied: Run): number {
  const others = [...run].filter(([id, ranking]) => ranking.some((turn, i) => turn.id !== tied.get(id)?.[i]?.id));
  return others.length;
}

/**
 * Counts the queries that the steps of a fitted arm before its mix change.
 *
 * @throws ValidationError naming the steps that change none, and state no reason.
 */
export async function countPoolSteps(
  { workspace, pool, queries }: LearningTask,
  { arm }: TrainingConfig,
): Promise<readonly StepChange[]> {
  const changes = await countUnrankedChanges(workspace, arm, pool);
  assertStepsApplied({ options: arm, changes }, queries.length);
  return changes;
}

/** The rankings of a fitted arm by the weights of one method. */
export interface MixedRankings {
  readonly method: string;
  /** The number of queries that the mix changes. */
  readonly mixed: number;
  /** [P] the weights; null where each fold has its own. */
  readonly values: Float64Array | null;
  /** True for a search that kept the start in every fold. */
  readonly isStart?: boolean;
}

/** Why a mix may change nothing: no fit chose its weights, or a fit chose those with which no mix changes anything. */
function findMixReason({ method, values, isStart = false }: MixedRankings): string | null {
  if (UNFITTED.includes(method)) return `not fitted: ${describeMethod(method)}`;
  if (isStart) return 'found nothing better than the start';
  return values?.every((value) => value === 0) ? 'every weight is 0' : null;
}

/**
 * The steps of a fitted arm with their counts, by method.
 *
 * @param before of the steps before the mix.
 * @throws ValidationError for a mix that changes no query by fitted weights other than 0, and states no reason.
 */
export function describeFittedSteps(
  { queries }: Pick<LearningTask, 'queries'>,
  { arm }: TrainingConfig,
  model: ScoringModel,
  before: readonly StepChange[],
  methods: readonly MixedRankings[],
): ReadonlyMap<string, StepEffect[]> {
  const mixed = methods.map((ranked) => {
    const reason = findMixReason(ranked);
    const unchanged = { ...(reason !== null && { mix: reason }), ...arm.unchanged };
    return {
      options: { ...arm, name: ranked.method, unchanged },
      changes: [...before, { step: 'mix', queries: ranked.mixed }],
      ...(ranked.values && { weights: Object.assign({}, ...Object.values(nameParameterValues(model, ranked.values))) }),
    };
  });
  // The learned weights are last, and of the most use in an error.
  for (const changed of [...mixed].reverse()) assertStepsApplied(changed, queries.length);
  return new Map(mixed.map((changed) => [changed.options.name, describeSteps(changed, queries.length)]));
}
