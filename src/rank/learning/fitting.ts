import type { FeatureTable } from './feature-table.ts';
import { type GreedySelection, selectGreedily } from './greedy-selection.ts';
import type { ScoringModel } from './model.ts';
import { type TrainingHooks, type TrainingOptions, type TrainingResult, train } from './training.ts';

/** Hyper-parameters to choose between. */
export interface HyperParameters extends Omit<TrainingOptions, 'seed'> {
  /** Selects signals one at a time in place of training a weight for each; an epoch is then a selected signal. */
  readonly select?: GreedySelection;
}

/** Fits a model to a table: by {@link selectGreedily} if the options have `select`, or else by {@link train}. */
export function fitModel(
  model: ScoringModel,
  table: FeatureTable,
  validation: FeatureTable | null,
  { select, ...options }: HyperParameters & Pick<TrainingOptions, 'seed'>,
  hooks: TrainingHooks = {},
): Promise<TrainingResult> {
  return select === undefined
    ? train(model, table, validation, options, hooks)
    : selectGreedily(model, table, validation, { ...options, ...select }, hooks);
}
