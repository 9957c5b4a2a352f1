import { DimensionMismatchError, NotFiniteError, ValidationError } from '../core/errors.ts';
import type { Candidates, QueryBatch } from '../model/candidates.ts';

/** Candidates of all queries together: 16 GiB of positions and scores. */
const MAX_PLACES = 2 ** 31;

/**
 * What every index checks at its door.
 *
 * @param size N, the turns that the index holds.
 * @throws ValidationError for a k that is no positive integer or too large for the queries, or a cutoff outside 0 … N.
 */
export function assertQueries(queries: QueryBatch, size: number, k: number): void {
  if (!Number.isInteger(k) || k < 1)
    throw new ValidationError(`k is not a positive integer: ${k}; pass a whole number from 1`, { k });
  if (queries.texts.length !== queries.cutoffs.length)
    throw new DimensionMismatchError('texts of a query batch', queries.cutoffs.length, queries.texts.length);
  const ranks = queries.cutoffs.length * k;
  if (ranks > MAX_PLACES) {
    const message = `more than ${MAX_PLACES} candidates for ${queries.cutoffs.length} queries with k ${k}; lower k`;
    throw new ValidationError(message, { k, size });
  }
  const outside = queries.cutoffs.find((cutoff) => cutoff < 0 || cutoff > size);
  if (outside !== undefined)
    throw new ValidationError(`cutoff is out of range: ${outside}; pass a number in 0 … ${size}`, {
      cutoff: outside,
      size,
    });
}

/**
 * @throws DimensionMismatchError when the query vectors do not have the dimension of the index.
 * @throws NotFiniteError, ValidationError as {@link assertUnitRows}.
 */
export function assertQueryVectors(queries: QueryBatch, dimension: number): void {
  const count = queries.cutoffs.length;
  if (queries.vectors.length !== count * dimension)
    throw new DimensionMismatchError(
      `vectors of ${count} queries of dimension ${dimension}`,
      count * dimension,
      queries.vectors.length,
    );
  assertUnitRows(queries.vectors, dimension, (row) => `query ${row}`);
}

/**
 * Checks that each row has length 1 or is zero, so that a product of two is their cosine.
 *
 * @throws NotFiniteError for a row with NaN or infinity.
 * @throws ValidationError for a row of another length.
 */
export function assertUnitRows(vectors: Float32Array, dimension: number, nameOf: (row: number) => string): void {
  for (let row = 0; row < vectors.length / dimension; row++) {
    let squares = 0;
    for (let i = row * dimension; i < (row + 1) * dimension; i++) squares += vectors[i]! ** 2;
    if (!Number.isFinite(squares)) throw new NotFiniteError('vector', nameOf(row), squares);
    if (squares !== 0 && Math.abs(squares - 1) > 1e-3)
      throw new ValidationError(`vector of ${nameOf(row)} has length ${Math.sqrt(squares)}; normalise it`);
  }
}

/** Candidates with every place empty. */
export function allocateCandidates(queryCount: number, width: number): Candidates {
  return {
    positions: new Int32Array(queryCount * width).fill(-1),
    scores: new Float32Array(queryCount * width),
    width,
  };
}

export function isZero(vector: Float32Array): boolean {
  return vector.every((value) => value === 0);
}

/**
 * The guard after every candidate stage: a candidate is strictly earlier than its query.
 *
 * @param cutoffs [Q] how many leading turns existed for each query.
 * @throws ValidationError naming the query and the position.
 */
export function assertAdmissible(candidates: Candidates, cutoffs: Int32Array): void {
  const { positions, width } = candidates;
  if (positions.length !== cutoffs.length * width) {
    throw new ValidationError(
      `candidates of ${cutoffs.length} queries with ${width} places each have ${positions.length} places; pass every place`,
      {
        ranks: positions.length,
      },
    );
  }
  for (const [rank, position] of positions.entries()) {
    const query = Math.floor(rank / width);
    if (position >= cutoffs[query]!) {
      throw new ValidationError(
        `candidate of query ${query} is not strictly earlier, ${cutoffs[query]} turns existed: position ${position}; let the index return earlier turns only`,
        { query, position, cutoff: cutoffs[query] },
      );
    }
  }
}
