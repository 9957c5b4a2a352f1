/** Models whose numbers are learned from judgements: training, searches, cross-validation, weight files. */

export { type AdamState, adamStart, adamStep } from './adam.ts';
export {
  type Calibration,
  calibrationOf,
  type ReliabilityBin,
  softmaxProbabilities,
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
export { changedFeatures, type FeatureSource, fixedFeatures } from './feature-source.ts';
export { assertFeatureTable, type FeatureTable, signalColumn, subset } from './feature-table.ts';
export { balancedFolds, everyRow, type Fold, leaveOneClusterOut } from './folds.ts';
export { type LinearModel, type LinearModelOptions, linearModel, rawWeights } from './linear-model.ts';
export { type LossOptions, type LossTargets, lossTargets, queryLosses, usableQueries } from './losses.ts';
export type { ScoringModel } from './model.ts';
export { MODELS, restoreModel } from './model-registry.ts';
export {
  type SearchObjective,
  type SearchOptions,
  type SearchResult,
  searchOnTable,
} from './parameter-search.ts';
export {
  constrained,
  handTunedValues,
  namedValues,
  type ParameterSpec,
  type Parametric,
  parameterCount,
  parameterValues,
  unconstrained,
  uniformValues,
} from './parameters.ts';
export { randomSearch } from './random-search.ts';
export { type Standardisation, standardisationOf } from './standardisation.ts';
export { type TableMetric, tableMetric, VALIDATION_METRIC } from './table-metrics.ts';
export { scoreTable } from './table-scorer.ts';
export {
  type CurvePoint,
  type TrainingHooks,
  type TrainingOptions,
  type TrainingResult,
  train,
} from './training.ts';
export { type TrajectoryModelOptions, trajectorySignals } from './trajectory-inputs.ts';
export { trajectoryModel } from './trajectory-model.ts';
export { assertFits, type Provenance, readWeights, type Weights, writeWeights } from './weight-file.ts';
