/** From a config to a result: tuning, the run, and the folder that it leaves. */

export { armsToRun, selectArms } from './arm-selection.ts';
export { attribute, LOSS_STAGES, type LossStage } from './attribution.ts';
export {
  type CacheFile,
  type CachePart,
  cacheFiles,
  cacheParts,
  deleteFiles,
  type GarbageOptions,
  garbage,
} from './cache-contents.ts';
export { codeVersion } from './code-version.ts';
export { type ArmOptions, type ExperimentConfig, experimentConfig, loadConfig, resolveConfig } from './config.ts';
export { applyOverrides, type Plain, parseYaml, readYaml } from './config-file.ts';
export { type ArmSummary, summariseArms } from './config-summary.ts';
export { captureEnvironment, projectVersion } from './environment.ts';
export { type ArmMeasurement, type Measurement, type MeasurementOptions, measureArms } from './measurement.ts';
export { perQueryParquet } from './per-query-parquet.ts';
export { type PerQueryValues, readPerQuery } from './per-query-values.ts';
export { type Dropout, dropouts, raceShares } from './race.ts';
export { type RescoreOptions, rescore } from './rescore.ts';
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
  QueryRecord,
  RankedTurn,
  StoppedArm,
  Stratum,
  StratumValue,
  SweepSummary,
  TurnRecord,
} from './result.ts';
export { type Field, type ResultRow, resultRows } from './result-rows.ts';
export { type FinishedRun, type RunContext, runExperiment } from './run.ts';
export { type ComparedArm, compareRuns, type RunComparison } from './run-comparison.ts';
export { type RunFiles, runFiles, writeRunFolder } from './run-folder.ts';
export { findRunFolders, type RunSummary, readRunSummary } from './run-summary.ts';
export { StageCache } from './stage-cache.ts';
export { planStages, type StagePlan } from './stage-plan.ts';
export { readStoredRun, type StoredRun } from './stored-run.ts';
export type { SweepDesign } from './sweep-options.ts';
export { runTest, type TestedModel, type TestResult } from './training/test-run.ts';
export { loadTrainingConfig, type TrainingConfig, trainingConfig } from './training/training-config.ts';
export type { LearnedNumber, MethodResult, ModelResult, TransferResult } from './training/training-result.ts';
export { type FinishedTraining, runTraining, type TrainingContext } from './training/training-run.ts';
