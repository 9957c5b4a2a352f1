/** Metrics as trec_eval computes them, intervals, tests, TREC files. */

export { type AllPairs, compareAllPairs, type PairComparison } from './all-pairs.ts';
export { type BootstrapOptions, computeBootstrapIntervals, type Interval } from './bootstrap-interval.ts';
export {
  type ClusteredMean,
  clusteredTInterval,
  clusteredTTest,
  estimateClusteredMean,
  minimumDetectable,
} from './cluster-robust.ts';
export { clusteredWilcoxon } from './clustered-wilcoxon.ts';
export { buildSingletonClusters, type Clusters, groupIntoClusters } from './clusters.ts';
export { cohenKappa } from './cohen-kappa.ts';
export { cohenD } from './effect-size.ts';
export { type Coverage, type Evaluation, type EvaluationOptions, evaluate, summarise } from './evaluate.ts';
export { type JudgedRanking, judgeRanking, type RankingFacts } from './judged-ranking.ts';
export { groupByLetters, nameLetter } from './letter-display.ts';
export {
  chooseIntervalMethod,
  type Estimate,
  type IntervalMethod,
  LEAST_BOOTSTRAPPED,
  LEAST_CLUSTERS,
  meanIntervals,
} from './mean-intervals.ts';
export { METRICS, type Metric, parseMean, parseMetric } from './metric.ts';
export type { MetricFamily, MetricParameter } from './metric-family.ts';
export { benjaminiHochberg, bonferroni, holm } from './multiple-comparisons.ts';
export { computePairedDifferences } from './paired-differences.ts';
export {
  convertQrelsToObject,
  convertRunToObject,
  createQrels,
  createRun,
  listQrelsRows,
  listRunRows,
  type PlainScores,
  type TableColumns,
} from './run-tables.ts';
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
  compareWithBaseline,
  computeClusteredTests,
} from './significance.ts';
export { computeSmallestCorrectedP, computeSmallestP } from './smallest-p.ts';
export { pairedTTest, type StudentTTest } from './student-t-test.ts';
export type { Table, TableRow } from './table-rows.ts';
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
export { isSignificant } from './verdict.ts';
export { type WilcoxonTest, wilcoxonSignedRank } from './wilcoxon-signed-rank.ts';
