/** From a config to a result: tuning, the run, the folder that it leaves; judging, and estimates from logs. */

export { type AskContext, type AskedContext, askArm, type RankedReason, type SharedBudget } from './ask/ask.ts';
export type { QuestionInput } from './ask/question.ts';
export { applyOverrides, type Plain, parseYaml, readYaml } from './composition/config-file.ts';
export { listArmsToRun, selectArms } from './config/arm-selection.ts';
export {
  type ArmOptions,
  type ExperimentConfig,
  experimentConfig,
  loadConfig,
  openConfig,
  resolveConfig,
} from './config/config.ts';
export { type ArmSummary, summariseArms } from './config/config-summary.ts';
export { compareJudges, type JudgeAgreement, KAPPA_GATE, passesGate } from './judging/agreement.ts';
export { type DocumentText, readDocumentTexts } from './judging/document-file.ts';
export { type JudgingContext, judgePairs, type RemoteJudgements } from './judging/endpoint-judge.ts';
export { type EndpointJudgeOptions, endpointJudgeOptions } from './judging/endpoint-judge-options.ts';
export { assertIndependentJudge, isSameAuthor } from './judging/independence.ts';
export {
  formatJudgements,
  formatPool,
  type JudgementFile,
  type PoolLine,
  readJudgementFile,
  readPool,
  type StatedJudgement,
} from './judging/judgement-file.ts';
export { buildQrels, type MergedJudgements, mergeJudgements } from './judging/merge.ts';
export { type PooledPair, type PoolOptions, poolRuns } from './judging/pool.ts';
export { findQueryFaults, type QueryFault } from './judging/query-check.ts';
export { type AuthoredQuery, readQueryFile } from './judging/query-file.ts';
export {
  describeSmallStratum,
  findSmallStrata,
  LEAST_QUERIES_PER_STRATUM,
  QUERY_STRATA,
  type StratumSize,
} from './judging/query-strata.ts';
export { type SampleOptions, sampleByStratum } from './judging/sample.ts';
export { linearWeightedKappa, quadraticWeightedKappa } from './judging/weighted-kappa.ts';
export {
  COUNTERFACTUAL_ESTIMATORS,
  type CounterfactualEstimate,
  type CounterfactualEstimator,
  estimateFromLog,
  type LoggedChoice,
} from './logs/counterfactual.ts';
export {
  compareByInterleaving,
  type InterleavedOutcome,
  type InterleavedRanking,
  type InterleavingResult,
  interleaveByTeamDraft,
  type Team,
} from './logs/interleaving.ts';
export { type ChoiceReading, listInterleavedOutcomes, listLoggedChoices } from './logs/retrieval-events.ts';
export { attribute, LOSS_STAGES, type LossStage } from './measure/attribution.ts';
export { type ArmMeasurement, type Measurement, type MeasurementOptions, measureArms } from './measure/measurement.ts';
export type {
  ArmFailure,
  ArmResult,
  Comparison,
  DatasetSummary,
  Environment,
  ExperimentResult,
  Interaction,
  Latency,
  MetricPassport,
  ProtocolWarning,
  QueryRecord,
  RankedTurn,
  StoppedArm,
  Stratum,
  StratumValue,
  SweepSummary,
  TurnRecord,
} from './measure/result.ts';
export { PROTOCOL_WARNINGS, type WarningCode } from './measure/warning.ts';
export { loadPlugin } from './plugins/load.ts';
export {
  type CandidatePair,
  definePlugin,
  type PluginDataset,
  type PluginDefinition,
  type PluginEncoder,
  type PluginFusion,
  type PluginIndex,
  type PluginMetric,
  type PluginSignal,
} from './plugins/plugin.ts';
export { codeReachedFrom, stageVersion } from './run/code-version.ts';
export { captureEnvironment, NO_BACKEND, projectVersion } from './run/environment.ts';
export { type Dropout, findDropouts, raceShares } from './run/race.ts';
export { type FinishedRun, type RunContext, runExperiment } from './run/run.ts';
export { type MeasuredRankings, type RunFiles, runFiles, writeRunFolder } from './run/run-folder.ts';
export { StageCache } from './run/stage-cache.ts';
export { planStages, type StagePlan } from './run/stage-plan.ts';
export { fuseSystems } from './score/fuse-systems.ts';
export { findProtocolWarnings, type Protocol } from './score/protocol-warnings.ts';
export { type ScoredFiles, type ScoreOptions, scoreFiles } from './score/score.ts';
export { type ScoredDataset, scoreDataset } from './score/score-dataset.ts';
export { readClusters, readDocuments, readJudgements, readSystems } from './score/score-files.ts';
export { buildSystem, type System } from './score/system.ts';
export {
  type CacheFile,
  type CachePart,
  cacheFiles,
  cacheParts,
  deleteFiles,
  type GarbageOptions,
  selectGarbage,
} from './stored/cache-contents.ts';
export { encodePerQueryParquet } from './stored/per-query-parquet.ts';
export { type PerQueryValues, readPerQuery } from './stored/per-query-values.ts';
export { type RescoreOptions, rescore } from './stored/rescore.ts';
export { type Field, listResultRows, type ResultRow } from './stored/result-rows.ts';
export { type ComparedArm, compareRuns, type RunComparison } from './stored/run-comparison.ts';
export { type RunFigures, readRunFigures } from './stored/run-figures.ts';
export { findRunFolders, type RunSummary, readRunSummary } from './stored/run-summary.ts';
export { readStoredRun, type StoredRun } from './stored/stored-run.ts';
export type { SweepDesign } from './sweep/sweep-options.ts';
