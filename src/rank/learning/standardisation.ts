import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { CONSTANT_SHARE } from '../signals/bank/normalisation.ts';
import { type FeatureTable, findSignalPositions } from './feature-table.ts';

/** Mean and standard deviation of signals over pairs, which makes weights of different signals comparable. */
export interface Standardisation {
  /** [F] */
  readonly means: Float64Array;
  /** [F]; 1 for a signal that does not vary. */
  readonly deviations: Float64Array;
}

/**
 * Population mean and deviation of each signal over the candidates of a table, in two passes of float64 in the order of
 * memory. O(Q C F).
 */
export function fitStandardisation(table: FeatureTable, signals: readonly string[]): Standardisation {
  const { values, mask } = table;
  const positions = findSignalPositions(table, signals);
  const stride = table.signals.length;
  const count = Math.max(
    1,
    mask.reduce((sum, bit) => sum + bit, 0),
  );
  const means = new Float64Array(signals.length);
  for (let pair = 0; pair < mask.length; pair++)
    if (mask[pair] === 1) for (let f = 0; f < means.length; f++) means[f]! += values[pair * stride + positions[f]!]!;
  for (let f = 0; f < means.length; f++) means[f]! /= count;
  const squares = new Float64Array(signals.length);
  for (let pair = 0; pair < mask.length; pair++)
    if (mask[pair] === 1)
      for (let f = 0; f < means.length; f++) squares[f]! += (values[pair * stride + positions[f]!]! - means[f]!) ** 2;
  const deviations = squares.map((sum, f) => {
    const deviation = Math.sqrt(sum / count);
    return deviation > CONSTANT_SHARE * Math.abs(means[f]!) ? deviation : 1;
  });
  return { means, deviations };
}

/** @throws DimensionMismatchError for constants of another number of signals, ValidationError for a deviation that nothing can be divided by. */
export function assertStandardisation({ means, deviations }: Standardisation, signals: readonly string[]): void {
  for (const { length } of [means, deviations])
    if (length !== signals.length)
      throw new DimensionMismatchError('standardisation', `${signals.length} signals`, length);
  const wrong = deviations.find((deviation) => !(deviation > 0));
  if (wrong !== undefined)
    throw new ValidationError(`deviation of a signal is not positive: ${wrong}; pass numbers above 0`);
}

/**
 * `(x - mean) / deviation` of the chosen signals.
 *
 * @returns row-major [Q C, F]; 0 where padded.
 */
export function standardiseSignals(
  table: FeatureTable,
  signals: readonly string[],
  { means, deviations }: Standardisation,
): Float32Array {
  const positions = findSignalPositions(table, signals);
  const { values, mask } = table;
  const stride = table.signals.length;
  const result = new Float32Array(mask.length * signals.length);
  for (let pair = 0, at = 0; pair < mask.length; pair++) {
    if (mask[pair] === 0) {
      at += signals.length;
      continue;
    }
    for (let f = 0; f < positions.length; f++, at++)
      result[at] = ((values[pair * stride + positions[f]!] as number) - means[f]!) / deviations[f]!;
  }
  return result;
}
