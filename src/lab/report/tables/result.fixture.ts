import type { Comparison, ExperimentResult, Interval } from '../../measure/result.ts';
import { inventResult } from '../page/invented-result.fixture.ts';

const buildInterval = (mean: number, low: number, high: number): Interval => ({ mean, low, high });

const buildComparison = (difference: Interval, correctedP: number, verdict: Comparison['verdict']): Comparison => ({
  difference,
  p: correctedP / 2,
  correctedP,
  samples: 10_000,
  unresolved: false,
  verdict,
  effectSize: difference.mean * 2,
  minimumDetectable: 0.031,
  wins: 5,
  ties: 3,
  losses: 2,
  clusterWins: 3,
  clusterTies: 0,
  clusterLosses: 1,
  signFlipP: 0.375,
});

/** Three arms and two metrics with written-out figures, so that a table of them can be written out too. */
export function buildHandmadeResult(): ExperimentResult {
  const sample = inventResult(3, { arms: 3, threads: 5, turnsAThread: 7, top: 2 });
  const [worse, base, better] = sample.arms;
  if (worse === undefined || base === undefined || better === undefined) throw new Error('sample has three arms');
  return {
    ...sample,
    metrics: ['mrr@10', 'recall@10'],
    arms: [
      {
        ...worse,
        name: 'newest | <first>',
        metrics: { 'mrr@10': buildInterval(0.353, 0.331, 0.376), 'recall@10': buildInterval(0.0994, 0.0049, 0.2) },
        comparisons: {
          'mrr@10': buildComparison(buildInterval(-0.143, -0.166, -0.12), 0.0004, 'worse'),
          'recall@10': buildComparison(buildInterval(-0.0003, -0.02, 0.021), 1, 'undecided'),
        },
        holes: 17,
      },
      {
        ...base,
        metrics: { 'mrr@10': buildInterval(0.496, 0.47, 0.522), 'recall@10': buildInterval(0.0997, 0.08, 0.11) },
        holes: 5,
      },
      {
        ...better,
        metrics: { 'mrr@10': buildInterval(1, 0.98, 1), 'recall@10': buildInterval(0.2, 0.15, 0.24) },
        comparisons: {
          'mrr@10': buildComparison(buildInterval(0.504, 0.48, 0.53), 0.051, 'undecided'),
          'recall@10': buildComparison(buildInterval(0.1003, 0.05, 0.15), 0.049, 'better'),
        },
        holes: 0,
      },
    ],
  };
}
