import type { ExperimentResult } from '../../measure/result.ts';
import type { ModelResult, TrainingResult } from '../../training/training-result.ts';
import { describeUndecidable } from '../tables/decision.ts';
import { describeCoverage, describeIntervals, describeUnresolved, listUnresolved } from '../tables/legend.ts';

/** The tests of a training are those of a run with nothing said about them. */
export function describeTrainingStatistics({
  config,
  level,
}: Pick<TrainingResult, 'config' | 'level'>): ExperimentResult['statistics'] {
  return { test: 'permutation', correction: 'holm', samples: config.evaluation.samples, level };
}

/**
 * How the intervals of differences that are corrected together are made, what the conversations can show, and what the samples leave open.
 *
 * @param of what the differences are of, in the plural
 */
export function reachSentences(
  result: Pick<TrainingResult, 'config' | 'level' | 'metrics'>,
  { measured }: Pick<ModelResult, 'measured'>,
  of: string,
  differences: Parameters<typeof listUnresolved>[0],
): string[] {
  const statistics = describeTrainingStatistics(result);
  const { conversations } = measured;
  return [
    `Brackets: ${describeIntervals(conversations, result.level)}.`,
    ...describeCoverage(conversations, result.level),
    ...describeUndecidable(statistics, conversations, differences.length, `comparisons of ${of}`),
    ...describeUnresolved(listUnresolved(differences, result.metrics), statistics),
  ];
}
