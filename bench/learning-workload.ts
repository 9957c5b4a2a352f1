import { drawHandmadeTable } from '../src/rank/learning/feature-table.fixture.ts';
import type { FeatureTable } from '../src/rank/learning/feature-table.ts';
import { createLinearModel, type LinearModel } from '../src/rank/learning/linear-model.ts';
import { fitStandardisation } from '../src/rank/learning/standardisation.ts';
import type { TrainingOptions } from '../src/rank/learning/training.ts';

export interface LearningSettings {
  readonly queries: number;
  readonly candidates: number;
  readonly signals: number;
  readonly epochs: number;
  /** Queries in a step; by default all of them. */
  readonly batch?: number | null;
  readonly repeats: number;
  readonly seed: number;
}

export const LEARNING_RATE = 0.05;

/** Listwise cross-entropy with Adam. */
export function buildTrainingOptions({
  epochs,
  batch = null,
  seed,
}: Pick<LearningSettings, 'epochs' | 'batch' | 'seed'>): TrainingOptions {
  const shared = { learningRate: LEARNING_RATE, l2: 0, batchSize: batch, startNoise: 0 };
  return { ...shared, epochs, patience: epochs, seed, loss: { name: 'listwise', temperature: 1 } };
}

/** One line of the table. */
export interface LearningRow {
  readonly name: string;
  readonly epochs: number;
  /** Uploading and all epochs. */
  readonly seconds: number;
  /** Before the first and the last step. */
  readonly firstLoss: number;
  readonly lastLoss: number;
}

/** Signals on scales of their own, and relevance that hangs on all of them and on chance. */
export function drawLearningWorkload({
  queries,
  candidates,
  signals,
  seed,
}: Pick<LearningSettings, 'queries' | 'candidates' | 'signals' | 'seed'>): {
  table: FeatureTable;
  model: LinearModel;
} {
  const names = Array.from({ length: signals }, (_, f) => `signal ${f}`);
  const weights = names.map((_, f) => (f % 2 === 0 ? 1 : -1) / (1 + f));
  const table = drawHandmadeTable({ queries, candidates, clusters: 10, signals: names, weights, noise: 1, seed });
  return {
    table,
    model: createLinearModel({ signals: names, nonNegative: [], initial: {} }, fitStandardisation(table, names)),
  };
}
