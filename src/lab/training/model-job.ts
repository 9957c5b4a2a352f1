import type { StartProgress } from '../../core/terminal/progress.ts';
import type { LearningTask } from './learning-task.ts';
import type { TrainingConfig } from './training-config.ts';

/** A model of a config, on the rows of a task. */
export interface ModelJob {
  readonly task: LearningTask;
  readonly config: TrainingConfig;
  readonly options: TrainingConfig['model'];
  readonly progress?: StartProgress;
}

/** Everything besides the table that affects the work on a model. */
export function buildJobKey({ config: { fitting, crossValidation, seed }, options }: ModelJob) {
  return { options, fitting, crossValidation, seed };
}
