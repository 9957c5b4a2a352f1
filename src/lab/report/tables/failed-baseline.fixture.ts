import type { ExperimentResult } from '../../measure/result.ts';

/** The result as it would be if its baseline had failed: nothing is compared with it. */
export function withFailedBaseline(result: ExperimentResult): ExperimentResult {
  const { baseline } = result;
  const failed = { name: baseline, description: 'words', code: 'NOT_FINITE', message: 'score is not finite: NaN' };
  const left = result.arms.filter(({ name }) => name !== baseline);
  const arms = left.map((arm) => ({ ...arm, comparisons: null }));
  return { ...result, arms, failures: [...result.failures, failed] };
}
