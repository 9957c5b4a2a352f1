import { finishStepsWithBreaks } from '../../core/terminal/steps.ts';
import type { Run } from '../../model/run.ts';
import { type Measurement, stepThroughArms } from '../measure/measurement.ts';
import type { LearningTask } from './learning-task.ts';
import type { TrainingConfig } from './training-config.ts';
import type { MethodResult } from './training-result.ts';

/** The method that the others are compared with. */
export const BASELINE = 'hand-tuned';
/** Places of each ranking that are measured, where a config names no other number. */
export const DEPTH = 100;

/** Measures rankings of a task's queries. @param runs by method, the baseline among them */
export function measureMethods(
  { dataset, queries }: LearningTask,
  { evaluation: { metrics, samples, level }, seed }: TrainingConfig,
  runs: ReadonlyMap<string, Run>,
  baseline = BASELINE,
): Promise<Measurement> {
  const options = { metrics, samples, level, baseline, seed };
  return finishStepsWithBreaks(stepThroughArms(runs, dataset, queries, options), () => {});
}

/** The figures of each method for reports. @param names of the runs, in order */
export function listMethodResults(names: Iterable<string>, { arms }: Measurement): MethodResult[] {
  return Array.from(names, (name, i) => {
    const { metrics, comparisons, strata, holes } = arms[i] as Measurement['arms'][number];
    return { name, metrics, comparisons, strata, holes };
  });
}

/** The counts of the figures: queries with a relevant turn, and their conversations. */
export function countMeasured({ queries }: Measurement): { readonly queries: number; readonly conversations: number } {
  return { queries: queries.length, conversations: new Set(queries.map(({ cluster }) => cluster)).size };
}
