import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { viewRow } from '../../core/tensors/rows.ts';
import { once } from '../../core/values/once.ts';
import type { FilterSubject } from '../../model/filter/filter.ts';
import { isStoredText } from '../../model/turns/memory-fields.ts';
import type { Distance, VectorRow } from '../../model/vector-index.ts';

/** A longer vector has squares that float32 cannot hold. */
const LONGEST_VECTOR = 1e18;
/** Bytes: a key of Postgres holds some 2,700. */
const LONGEST_ID = 2048;
/** How far the squared length of a unit vector that is stored as float32 may be from 1. Such a vector stays as it is, so that a saved index is reopened equal. */
const UNIT_TOLERANCE = 2.5e-7;

/** The squared length of a vector. */
export function sumSquares(vector: Float32Array): number {
  let squares = 0;
  for (let d = 0; d < vector.length; d++) squares += (vector[d] as number) * (vector[d] as number);
  return squares;
}

/** @throws NotFiniteError; ValidationError for a vector that is too long. */
function assertLength(squares: number, where: string): void {
  if (!Number.isFinite(squares)) throw new NotFiniteError('vector', where, squares);
  if (squares > LONGEST_VECTOR ** 2)
    throw new ValidationError(
      `vector of ${where} is longer than ${LONGEST_VECTOR}: ${Math.sqrt(squares)}; scale the vectors down`,
    );
}

/**
 * A vector as an index compares it: with cosine of length 1.
 *
 * @param isFixed whether the vector itself may be returned.
 * @param locate gives the place of a copy.
 * @returns null for a vector without a direction.
 */
function prepareVector(
  vector: Float32Array,
  metric: Distance,
  where: string,
  isFixed: boolean,
  locate: () => Float32Array,
): Float32Array | null {
  const squares = sumSquares(vector);
  assertLength(squares, where);
  if (metric === 'cosine' && squares === 0) return null;
  const isReady = metric !== 'cosine' || Math.abs(squares - 1) <= UNIT_TOLERANCE;
  if (isReady && isFixed) return vector;
  const target = locate();
  target.set(vector);
  if (isReady) return target;
  const length = Math.sqrt(squares);
  for (let d = 0; d < target.length; d++) target[d] = (vector[d] as number) / length;
  return target;
}

/** An error about a text that Postgres or UTF-8 cannot hold. */
const createTextError = (where: string) =>
  new ValidationError(`${where} holds U+0000 or half a surrogate pair; remove the character`, { where });

const isText = (value: unknown) => typeof value !== 'string' || isStoredText(value);

function assertFields(fields: object, id: string): void {
  for (const [key, value] of Object.entries(fields)) {
    if (!isStoredText(key)) throw createTextError(`name ${JSON.stringify(key)} of row ${id}`);
    if (!(Array.isArray(value) ? value.every(isText) : isText(value))) throw createTextError(`${key} of row ${id}`);
  }
}

function assertSubject({ attributes, ...fields }: FilterSubject, id: string): void {
  assertFields(fields, id);
  if (attributes !== undefined) assertFields(attributes, id);
}

function assertId(id: string): void {
  if (typeof id !== 'string' || id === '') throw new ValidationError(`id of a row is not a text: ${id}; pass an id`);
  if (!isStoredText(id)) throw createTextError(`id ${JSON.stringify(id)}`);
  const bytes = Buffer.byteLength(id);
  if (bytes > LONGEST_ID)
    throw new ValidationError(
      `id of a row has ${bytes} bytes, more than ${LONGEST_ID}: ${id.slice(0, 40)}…; shorten it`,
    );
}

/** A row as an index holds it. */
export interface PreparedRow {
  readonly id: string;
  /** Null: a zero vector under cosine, which no query finds. */
  readonly vector: Float32Array | null;
  readonly subject: FilterSubject;
}

function assertRow({ id, vector, subject = {} }: VectorRow, dimension: number): void {
  assertId(id);
  if (vector.length !== dimension)
    throw new DimensionMismatchError(`vector of row ${id}`, dimension, vector.length, 'use the encoder of the index');
  assertSubject(subject, id);
}

/**
 * Checks of a row what {@link prepareRows} does besides its texts and the length of its vector.
 *
 * @throws as {@link prepareRows}.
 */
export function assertIndexable({ id, vector }: VectorRow): void {
  assertId(id);
  assertLength(sumSquares(vector), `row ${id}`);
}

/**
 * What every index checks of rows at its door, before its first pause: the caller may change vectors after the call. Of
 * two rows with one id the later is kept. Copies of vectors are views of one array.
 *
 * @param isFixed see `VectorIndex.upsert`.
 * @throws DimensionMismatchError, NotFiniteError and ValidationError that name the row.
 */
export function prepareRows(
  rows: readonly VectorRow[],
  dimension: number,
  metric: Distance,
  isFixed = false,
): PreparedRow[] {
  const byId = new Map<string, PreparedRow>();
  for (const row of rows) assertRow(row, dimension);
  const copy = once(() => new Float32Array(rows.length * dimension));
  for (const [i, { id, vector, subject = {} }] of rows.entries()) {
    const own = prepareVector(vector, metric, `row ${id}`, isFixed, () => viewRow(copy(), dimension, i));
    byId.set(id, { id, vector: own, subject: { ...subject, id } });
  }
  return [...byId.values()];
}

/**
 * What every index checks of a search.
 *
 * @param queries row-major [Q, D]
 * @returns [Q] vectors as the index compares them; null for one without a direction, which finds nothing.
 * @throws DimensionMismatchError, NotFiniteError and ValidationError that name the query or k.
 */
export function prepareQueries(
  queries: Float32Array,
  k: number,
  dimension: number,
  metric: Distance,
): (Float32Array | null)[] {
  if (!Number.isInteger(k) || k < 1)
    throw new ValidationError(`k is not a positive integer: ${k}; pass a whole number from 1`, { k });
  if (queries.length % dimension !== 0)
    throw new DimensionMismatchError(
      'numbers of query vectors',
      `a multiple of ${dimension}`,
      queries.length,
      'use the encoder of the index',
    );
  const copies = new Float32Array(queries.length);
  return Array.from({ length: queries.length / dimension }, (_, query) => {
    const [given, own] = [viewRow(queries, dimension, query), viewRow(copies, dimension, query)];
    return prepareVector(given, metric, `query ${query}`, false, () => own);
  });
}
