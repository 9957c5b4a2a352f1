import { assertUnitRows } from '../candidates/query-batch.ts';
import { DimensionMismatchError } from '../core/errors.ts';

/** The corpus and the queries as one encoder has them. */
export interface Encoding {
  readonly dimension: number;
  /** Row-major [N, D], unit rows. */
  readonly turnVectors: Float32Array;
  /** Row-major [Q, D], unit rows. */
  readonly queryVectors: Float32Array;
}

/** Checked here, since to a fusion NaN means that a source did not find the candidate. */
export function assertVectors(
  what: string,
  owners: readonly { readonly id: string }[],
  vectors: Float32Array,
  dimension: number,
): void {
  if (vectors.length !== owners.length * dimension)
    throw new DimensionMismatchError(`numbers in the ${what} vectors`, owners.length * dimension, vectors.length);
  assertUnitRows(vectors, dimension, (row) => `${what} ${owners[row]?.id}`);
}
