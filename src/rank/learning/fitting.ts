import type { FeatureTable } from './feature-table.ts';
import { type GreedySelection, selectGreedily } from './greedy-selection.ts';
import type { ScoringModel } from './model.ts';
import {
  type Trainer,
  type TrainingHooks,
  type TrainingOptions,
  type TrainingResult,
  withTrainer,
} from './training.ts';

/** Hyper-parameters to choose between. */
export interface HyperParameters extends Omit<TrainingOptions, 'seed'> {
  /** Selects signals one at a time in place of training a weight for each; an epoch is then a selected signal. */
  readonly select?: GreedySelection;
}

/** Fits a trainer's model to its table: by {@link selectGreedily} if the options have `select`, or else by training. */
export function fitByTrainer(
  trainer: Trainer,
  { select, ...options }: HyperParameters & Pick<TrainingOptions, 'seed'>,
  hooks: TrainingHooks = {},
): Promise<TrainingResult> {
  if (select === undefined) return trainer.train(options, hooks);
  const { model, table, validation } = trainer.data;
  return selectGreedily(model, table, validation, { ...options, ...select }, hooks);
}

/** {@link fitByTrainer}, once. */
export function fitModel(
  model: ScoringModel,
  table: FeatureTable,
  validation: FeatureTable | null,
  options: HyperParameters & Pick<TrainingOptions, 'seed'>,
): Promise<TrainingResult> {
  return withTrainer({ model, table, validation }, (trainer) => fitByTrainer(trainer, options));
}
