import { ValidationError } from '../../core/errors/errors.ts';
import { listRunRows } from '../../eval/trec/run-tables.ts';
import type { Run } from '../../model/run.ts';
import { listWeightRows } from '../../rank/learning/learning-display.ts';
import type { Weights } from '../../rank/learning/weight-file.ts';
import type { FinishedExperiment } from './finished-experiment.ts';

/** Rows of plain values, by the names of their columns. */
export type FrameRows = readonly object[];

/** What a data frame can be made of. */
export type FrameSource = FinishedExperiment | Run | Weights | FrameRows;

/** A constructor of data frames, such as `DataFrame` of danfojs. */
export type FrameConstructor<F> = new (columns: Record<string, unknown[]>) => F;

/**
 * The rows of a result: one for each arm and query of an experiment (its metrics), for each document of a run (query_id, doc_id, score, rank), for each number of weights
 * (parameter, label, handTuned, value).
 */
export function listFrameRows(source: FrameSource): FrameRows {
  if (Array.isArray(source)) return source as FrameRows;
  if (source instanceof Map) return listRunRows(source as Run);
  if ('rows' in source && typeof source.rows === 'function') return source.rows();
  return listWeightRows(source as Weights);
}

/**
 * A data frame of the rows of a result. The package does not depend on a library of data frames: pass the constructor.
 *
 * @param DataFrame takes an array for each column, as that of danfojs does.
 * @param source an experiment, a run, weights, or rows of your own. A value that a row lacks becomes null.
 * @throws ValidationError for a source without rows, from which no column is known.
 */
export function toDataFrame<F>(DataFrame: FrameConstructor<F>, source: FrameSource): F {
  const rows = listFrameRows(source) as readonly Readonly<Record<string, unknown>>[];
  if (rows.length === 0) throw new ValidationError('data frame has no rows: 0; pass a result with at least 1');
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return new DataFrame(Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name] ?? null)])));
}
