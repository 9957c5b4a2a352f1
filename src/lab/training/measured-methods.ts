import { finishStepsWithBreaks } from '../../core/terminal/progress.ts';
import type { Run } from '../../model/run.ts';
import { HAND_TUNED_ARM } from '../config/fitted-arm.ts';
import { type Measurement, type MeasurementOptions, stepThroughArms } from '../measure/measurement.ts';
import type { LearningTask } from './learning-task.ts';
import type { TrainingConfig } from './training-config.ts';

/** The method that the others are compared with. */
export const BASELINE = HAND_TUNED_ARM;

/** The metrics and statistics of a fit. */
export function selectMeasuring({ evaluation, seed }: TrainingConfig, baseline: string): MeasurementOptions {
  const { metrics, test, correction, samples, level, tokenBudgets } = evaluation;
  return { metrics, test, correction, samples, level, tokenBudgets, baseline, seed };
}

/** Measures rankings of a task's queries. @param runs by method, the baseline among them */
export function measureMethods(
  { dataset, queries }: LearningTask,
  config: TrainingConfig,
  runs: ReadonlyMap<string, Run>,
  baseline = BASELINE,
): Promise<Measurement> {
  return finishStepsWithBreaks(stepThroughArms(runs, dataset, queries, selectMeasuring(config, baseline)), () => {});
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'hand-tuned': 'where training starts',
  uniform: 'every signal alike',
  'random search': 'the best of random draws, in the time of the training',
  'coordinate ascent': 'one number after the other, in the time of the training',
  learned: 'by gradients',
  strategy: 'the weights of the strategy of each question',
  everyone: 'those learned of all users together',
  user: 'those learned of who asks',
  'another user': 'a null control: those of another user with own weights',
};

/** The description of a way to choose the numbers of a model. */
export function describeMethod(name: string): string {
  return DESCRIPTIONS[name] ?? '';
}
