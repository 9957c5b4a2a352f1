/** Models whose numbers are learned from judgements: training, searches, cross-validation, weight files. */

export { type AdamState, createAdamState, takeAdamStep } from './adam.ts';
export {
  type Calibration,
  computeRowProbabilities,
  measureCalibration,
  type ReliabilityBin,
} from './calibration.ts';
export { CONSTRAINTS, type Constraint, type ConstraintName } from './constraints.ts';
export { coordinateAscent } from './coordinate-ascent.ts';
export {
  type CrossValidation,
  crossValidate,
  type Fit,
  type FitHooks,
  fitPoint,
  fitWithSelection,
  type HyperParameters,
  type SelectionPlan,
  type TrainingRows,
} from './cross-validation.ts';
export { exchangeSignals } from './exchanged-signals.ts';
export { createChangedSource, createFixedSource, type FeatureSource } from './feature-source.ts';
export { assertFeatureTable, copySignalColumn, type FeatureTable, selectQueries } from './feature-table.ts';
export { buildWholeFold, drawBalancedFolds, type Fold, splitByCluster } from './folds.ts';
export { listWeightRows, type WeightRow } from './learning-display.ts';
export { computeRawWeights, createLinearModel, type LinearModel, type LinearModelOptions } from './linear-model.ts';
export {
  computeQueryLosses,
  type LossOptions,
  type LossTargets,
  listUsableQueries,
  uploadLossTargets,
} from './losses.ts';
export type { ScoringModel } from './model.ts';
export { MODELS, restoreModel } from './model-registry.ts';
export {
  type SearchObjective,
  type SearchOptions,
  type SearchResult,
  searchOnTable,
} from './parameter-search.ts';
export {
  chooseParameterValues,
  constrainValues,
  countParameters,
  freeValues,
  listHandTunedValues,
  listUniformValues,
  nameParameterValues,
  type ParameterSpec,
  type Parametric,
} from './parameters.ts';
export { randomSearch } from './random-search.ts';
export { fitStandardisation, type Standardisation } from './standardisation.ts';
export {
  type LearnedUserWeights,
  learnStrategyWeights,
  type StrategyFeedback,
  type StrategyLearningOptions,
  type UserStrategyWeights,
} from './strategy-weights.ts';
export { createTableMetric, type TableMetric, VALIDATION_METRIC } from './table-metrics.ts';
export { decomposeTable, scoreTable } from './table-scorer.ts';
export {
  type CurvePoint,
  TRAINING_DEFAULTS,
  type TrainingHooks,
  type TrainingOptions,
  type TrainingResult,
  train,
} from './training.ts';
export { listTrajectorySignals, type TrajectoryModelOptions } from './trajectory-inputs.ts';
export { createTrajectoryModel } from './trajectory-model.ts';
export {
  type FusionTuning,
  type FusionTuningOptions,
  listFusionCandidates,
  type TriedFusion,
  tuneFusion,
} from './tune-fusion.ts';
export { assertFits, type Provenance, readWeights, type Weights, writeWeights } from './weight-file.ts';
