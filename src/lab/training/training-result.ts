import type { Estimate } from '../../eval/intervals/mean-intervals.ts';
import type { BaselineComparison } from '../../eval/significance/significance.ts';
import type { Calibration } from '../../rank/learning/calibration.ts';
import type { CurvePoint } from '../../rank/learning/training.ts';
import type { StrategyName } from '../../rank/query/strategy.ts';
import type { MemorySignals } from '../../rank/signals/memory-signals.ts';
import type { DatasetSummary, Environment, QueryRecord, RankedTurn, Stratum, TurnRecord } from '../measure/result.ts';
import type { StratumValues } from '../measure/stratum-values.ts';
import type { TrainingConfig } from './training-config.ts';

/** The figures of a method on held-out conversations. */
export interface MethodResult {
  readonly name: string;
  readonly metrics: Readonly<Record<string, Estimate>>;
  /** With the baseline; null for the baseline itself. */
  readonly comparisons: Readonly<Record<string, BaselineComparison>> | null;
  readonly strata: StratumValues;
  /** Unjudged turns among the first 10, summed over the queries. */
  readonly holes: number;
}

/** A number that was learned. */
export interface LearnedNumber {
  /** The parameter, and which of its numbers: a signal, a coordinate. */
  readonly parameter: string;
  readonly label: string;
  readonly handTuned: number;
  readonly value: number;
  /** Bounds from trainings on resampled conversations; null if disabled. */
  readonly interval: { readonly low: number; readonly high: number } | null;
}

/** The hyper-parameters and figures of an outer fold. */
export interface FoldResult {
  readonly clusters: readonly string[];
  readonly point: Readonly<Record<string, unknown>>;
  /** The metric of fitting after each epoch within the inner folds, on rows that were not trained on. */
  readonly validation: readonly number[];
  readonly epochs: number;
  /** Of the training on all of the fold's rows. */
  readonly curve: readonly CurvePoint[];
}

/** The result of a search by the metric alone on the training rows of each fold. */
export interface SearchSummary {
  readonly method: string;
  /** [folds] evaluations of the metric on all training rows of the fold, as many as take the time of its training. */
  readonly evaluations: readonly number[];
  /** Folds in which nothing was better than the hand-tuned numbers. */
  readonly foldsAtStart: number;
}

/** The loss without some signals, trained again on the same folds. */
export interface Importance {
  readonly family: string;
  readonly signals: readonly string[];
  /** Metric without them minus with them, and the paired test. */
  readonly comparisons: Readonly<Record<string, BaselineComparison>>;
}

/** The figures of the model when the candidates of each query exchange some signals at random, in training as in measuring, on the same folds. */
export interface NullControl {
  /** The part of the signals; `all of these` for every signal of some control. */
  readonly part: string;
  readonly signals: readonly string[];
  readonly metrics: Readonly<Record<string, Estimate>>;
  /** Metric with them exchanged minus the learned method's, and the paired test, corrected over the controls. */
  readonly comparisons: Readonly<Record<string, BaselineComparison>>;
  readonly baseline: {
    /** Whether the hand-tuned numbers rank as before: only then is the loss part of the gain alone. */
    readonly isUnchanged: boolean;
    /** Metric of the hand-tuned numbers with them exchanged minus that without, and the paired test. */
    readonly comparisons: Readonly<Record<string, BaselineComparison>>;
  };
}

/** One trained model: its methods compared with a baseline, its learned numbers, its folds of cross-validation, and the curve of its final training. */
export interface ModelResult {
  readonly name: string;
  readonly methods: readonly MethodResult[];
  readonly baseline: string;
  /** Queries with a relevant turn, which the figures are over, and their conversations. */
  readonly measured: { readonly queries: number; readonly conversations: number };
  readonly numbers: readonly LearnedNumber[];
  readonly folds: readonly FoldResult[];
  readonly searches: readonly SearchSummary[];
  /** Of the training that the weights come from, on all rows. */
  readonly curve: readonly CurvePoint[];
  readonly validation: readonly number[];
  readonly point: Readonly<Record<string, unknown>>;
  readonly epochs: number;
  readonly calibration: Calibration;
  readonly importance: readonly Importance[];
  readonly controls: readonly NullControl[];
  /** The weight file within the folder. */
  readonly file: string;
}

/** The weights of one user for questions of one strategy. */
export interface LearnedUser {
  readonly user: string;
  readonly strategy: StrategyName;
  /** The questions that they are learned from. */
  readonly questions: number;
  /** The share of the learned weights; the rest is the strategy's. */
  readonly share: number;
  readonly weights: MemorySignals;
}

/** The weights of users: the methods compared with the weights of the strategies, and all that was learned. */
export interface UserTraining {
  readonly methods: readonly MethodResult[];
  readonly baseline: string;
  readonly measured: { readonly queries: number; readonly conversations: number };
  /** Users who ask at least one query. */
  readonly asked: number;
  /** Only of users with enough questions. */
  readonly learned: readonly LearnedUser[];
  /** The file of the weights within the folder. */
  readonly file: string;
}

/** The learned weights of one dataset on another. */
export interface TransferResult {
  readonly model: string;
  readonly trainedOn: string;
  readonly testedOn: string;
  readonly queries: number;
  /** Of the queries with a relevant turn; they determine the method of the intervals. */
  readonly conversations: number;
  readonly metrics: Readonly<Record<string, Estimate>>;
}

/** A method's rankings by weights that have not seen them. */
export interface InspectedMethod {
  readonly model: string;
  readonly method: string;
  /** By metric, a value a query. */
  readonly perQuery: Readonly<Record<string, readonly number[]>>;
  /** Families of signals, whose parts add up to the scores; empty for a model that is no linear mix. */
  readonly contributionNames: readonly string[];
  /** The first places of each query's ranking. */
  readonly rankings: readonly (readonly RankedTurn[])[];
}

/** What the inspector of a training shows; arrays in the order of `queries`, which have a relevant turn. */
export interface TrainingInspection {
  readonly queries: readonly QueryRecord[];
  readonly turns: readonly TurnRecord[];
  readonly methods: readonly InspectedMethod[];
}

/** The result of a training for reports; plain data. */
export interface TrainingResult {
  readonly name: string;
  readonly hash: string;
  readonly description: string;
  readonly environment: Environment;
  readonly config: TrainingConfig;
  readonly dataset: DatasetSummary;
  readonly metrics: readonly string[];
  readonly level: number;
  readonly queries: number;
  readonly conversations: number;
  readonly signals: readonly string[];
  /** Share of the relevant turns that are among the candidates. */
  readonly poolRecall: number;
  readonly strata: readonly Stratum[];
  readonly models: readonly ModelResult[];
  /** Missing in a training that learns no weights of users. */
  readonly users?: UserTraining | undefined;
  readonly transfer: readonly TransferResult[];
  /** Missing in results that hold no rankings. */
  readonly inspection?: TrainingInspection | undefined;
}
