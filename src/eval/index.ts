/** Metrics as trec_eval computes them, intervals, tests, TREC files. */

export { cohenKappa } from './agreement/cohen-kappa.ts';
export { type BootstrapOptions, computeBootstrapIntervals, type Interval } from './intervals/bootstrap-interval.ts';
export {
  type ClusteredMean,
  clusteredTInterval,
  clusteredTTest,
  estimateClusteredMean,
  minimumDetectable,
} from './intervals/cluster-robust.ts';
export { buildSingletonClusters, type Clusters, groupIntoClusters } from './intervals/clusters.ts';
export {
  chooseIntervalMethod,
  type Estimate,
  type IntervalMethod,
  LEAST_BOOTSTRAPPED,
  LEAST_CLUSTERS,
  meanIntervals,
} from './intervals/mean-intervals.ts';
export { type Coverage, type Evaluation, type EvaluationOptions, evaluate, summarise } from './metrics/evaluate.ts';
export { type JudgedRanking, judgeRanking, type RankingFacts } from './metrics/judged-ranking.ts';
export { METRICS, type Metric, parseMean, parseMetric } from './metrics/metric.ts';
export type { MetricFamily, MetricParameter } from './metrics/metric-family.ts';
export { type AllPairs, compareAllPairs, type PairComparison } from './significance/all-pairs.ts';
export { clusteredWilcoxon } from './significance/clustered-wilcoxon.ts';
export { cohenD } from './significance/effect-size.ts';
export { groupByLetters, nameLetter } from './significance/letter-display.ts';
export { benjaminiHochberg, bonferroni, holm } from './significance/multiple-comparisons.ts';
export { computePairedDifferences } from './significance/paired-differences.ts';
export {
  MOST_SAMPLES,
  type PermutationOptions,
  type PermutationTest,
  signFlipPermutation,
} from './significance/sign-flip-permutation.ts';
export {
  type BaselineComparison,
  type ClusteredTest,
  type ComparisonOptions,
  compareWithBaseline,
  computeClusteredTests,
} from './significance/significance.ts';
export { computeSmallestCorrectedP, computeSmallestP } from './significance/smallest-p.ts';
export { pairedTTest, type StudentTTest } from './significance/student-t-test.ts';
export { CORRECTIONS, type CorrectionName, TESTS, type TestName } from './significance/test-names.ts';
export { isSignificant } from './significance/verdict.ts';
export { type WilcoxonTest, wilcoxonSignedRank } from './significance/wilcoxon-signed-rank.ts';
export {
  convertQrelsToObject,
  convertRunToObject,
  createQrels,
  createRun,
  listQrelsRows,
  listRunRows,
  type PlainScores,
  type TableColumns,
} from './trec/run-tables.ts';
export type { Table, TableRow } from './trec/table-rows.ts';
export {
  formatQrels,
  formatRun,
  parseQrels,
  parseRun,
  readQrels,
  readRun,
  writeQrels,
  writeRun,
} from './trec/trec-files.ts';
