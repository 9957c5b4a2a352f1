import type { Estimate } from '../../eval/intervals/mean-intervals.ts';
import type { BaselineComparison } from '../../eval/significance/significance.ts';
import type { Calibration } from '../../rank/learning/calibration.ts';
import type { CurvePoint } from '../../rank/learning/training.ts';

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

/** A signal that a fold or the final fit selected. */
export interface SelectedSignal {
  readonly signal: string;
  /** The meaning of the signal, as in docs/signals.md. */
  readonly summary: string;
  /** Outer folds that selected it. */
  readonly folds: number;
  /** Means over these folds of its weight and of its place in the order of selection, from 1; null without folds. */
  readonly meanWeight: number | null;
  readonly meanOrder: number | null;
  /** In the weight file; null for a signal that is not in the file. */
  readonly weight: number | null;
  /**
   * The metric of fitting on held-out rows without the signal minus with it, the other signals of each fold fitted
   * again; 0 in a fold that did not select it.
   */
  readonly without: number;
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
    /** True if the hand-tuned numbers rank as before: only then is the loss part of the gain alone. */
    readonly isUnchanged: boolean;
    /** Metric of the hand-tuned numbers with them exchanged minus that without, and the paired test. */
    readonly comparisons: Readonly<Record<string, BaselineComparison>>;
  };
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

/**
 * A fitted model, in a result whose arms are ways to choose its numbers: the numbers, the folds of cross-validation,
 * and the curve of the final training.
 */
export interface FitResult {
  readonly model: string;
  /** The signals of the candidates. */
  readonly signals: readonly string[];
  /** Share of the relevant turns that are among the candidates. */
  readonly poolRecall: number;
  /** The metric of early stopping, the inner folds and the searches. */
  readonly validatedBy: string;
  /** Trainings behind the intervals of the numbers. */
  readonly resamples: number;
  readonly numbers: readonly LearnedNumber[];
  readonly folds: readonly FoldResult[];
  readonly searches: readonly SearchSummary[];
  /** The curve of the training that the weights come from, on all rows. */
  readonly curve: readonly CurvePoint[];
  readonly validation: readonly number[];
  readonly point: Readonly<Record<string, unknown>>;
  readonly epochs: number;
  readonly calibration: Calibration;
  /** Signals in the order of their selection; absent for a fit that weighs all of them. */
  readonly selection?: readonly SelectedSignal[];
  readonly importance: readonly Importance[];
  readonly controls: readonly NullControl[];
  /** The weight file within the folder. */
  readonly file: string;
  readonly transfer: readonly TransferResult[];
}
