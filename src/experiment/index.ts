/** From a config to a result: tuning, the run, and the folder that it leaves. */

export { type ArmOptions, type ExperimentConfig, experimentConfig, loadConfig, resolveConfig } from './config.ts';
export { applyOverrides, type Plain, parseYaml, readYaml } from './config-file.ts';
export { captureEnvironment, projectVersion } from './environment.ts';
export { type ArmMeasurement, type Measurement, type MeasurementOptions, measureArms } from './measurement.ts';
export type {
  ArmResult,
  Comparison,
  DatasetSummary,
  Environment,
  ExperimentResult,
  QueryRecord,
  RankedTurn,
  TurnRecord,
} from './result.ts';
export { type FinishedRun, type RunContext, runExperiment } from './run.ts';
export { type RunFiles, runFiles, writeRunFolder } from './run-folder.ts';
