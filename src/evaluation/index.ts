/** Metrics as trec_eval computes them, intervals, tests, TREC files. */

export { type BootstrapOptions, bootstrapIntervals, type Interval } from './bootstrap-interval.ts';
export {
  type ClusteredMean,
  clusteredMean,
  clusteredTInterval,
  clusteredTTest,
  minimumDetectable,
} from './cluster-robust.ts';
export { clusteredWilcoxon } from './clustered-wilcoxon.ts';
export { type Clusters, clusterBy, unclustered } from './clusters.ts';
export { cohenKappa } from './cohen-kappa.ts';
export { cohenD } from './effect-size.ts';
export { type Coverage, type Evaluation, type EvaluationOptions, evaluate, summarise } from './evaluate.ts';
export { type JudgedRanking, judgeRanking } from './judged-ranking.ts';
export {
  type Estimate,
  type IntervalMethod,
  intervalMethod,
  LEAST_BOOTSTRAPPED,
  LEAST_CLUSTERS,
  meanIntervals,
} from './mean-intervals.ts';
export { METRICS, type Metric, parseMean, parseMetric } from './metric.ts';
export type { MetricFamily } from './metric-family.ts';
export { benjaminiHochberg, bonferroni, holm } from './multiple-comparisons.ts';
export { pairedDifferences } from './paired-differences.ts';
export {
  MOST_SAMPLES,
  type PermutationOptions,
  type PermutationTest,
  signFlipPermutation,
} from './sign-flip-permutation.ts';
export {
  type BaselineComparison,
  type ClusteredTest,
  type ComparisonOptions,
  clusteredTests,
  compareWithBaseline,
  isSignificant,
} from './significance.ts';
export { smallestCorrectedP, smallestP } from './smallest-p.ts';
export { pairedTTest, type StudentTTest } from './student-t-test.ts';
export { CORRECTIONS, type CorrectionName, TESTS, type TestName } from './test-names.ts';
export {
  formatQrels,
  formatRun,
  parseQrels,
  parseRun,
  readQrels,
  readRun,
  writeQrels,
  writeRun,
} from './trec-files.ts';
export { type WilcoxonTest, wilcoxonSignedRank } from './wilcoxon-signed-rank.ts';
