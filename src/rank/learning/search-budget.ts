/**
 * A row's loss with its gradient takes the time of two evaluations of the row, which are its scores, their ranking and the metric. Measured on wasm: 1.6 with a
 * linear mix of 142 signals, 2.0 with the trajectory model; 2.7 times the scores alone.
 */
export const GRADIENT_EVALUATIONS = 2;

/** The parts of a training. */
interface TrainedRows {
  readonly epochs: number;
  readonly rows: number;
  /** Rows that are evaluated once before the first epoch and once after each. */
  readonly validationRows: number;
}

/** The work of a training, counted in evaluations of a row. It depends on no clock, so that a search with the same budget is the same everywhere. */
export function countRowEvaluations({ epochs, rows, validationRows }: TrainedRows): number {
  return epochs * GRADIENT_EVALUATIONS * rows + (epochs + 1) * validationRows;
}

/** The number of evaluations of all rows that equals the work of the trainings; at least one. */
export function computeEqualBudget(work: number, rows: number): number {
  return Math.max(1, Math.round(work / rows));
}
