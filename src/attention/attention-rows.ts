import { DimensionMismatchError, NotFiniteError, ValidationError } from '../core/errors.ts';
import { rowWidth } from '../core/rows.ts';

/** Turns 0 … T - 1 of one conversation on the host, in ring order, each array row-major. One array may serve as all three. */
export interface AttentionRows {
  /** T */
  readonly turns: number;
  /** [T, D] */
  readonly queries: Float32Array;
  /** [T, D] */
  readonly keys: Float32Array;
  /** [T, V] */
  readonly values: Float32Array;
}

/** What was computed, how, and how exact it is. */
export interface RowAttention {
  /** Row-major [T, V]; a row without an admissible key is zero. */
  readonly output: Float32Array;
  /** `dense` looked at every key. */
  readonly method: 'banded' | 'dense';
  /** Why, in words. */
  readonly reason: string;
  /** W, the steps to the last key that the tolerance asks to look at. */
  readonly bandWidth: number;
  /** Proven bound on the Euclidean error of a row, for values of length 1 at most; what float32 rounds comes on top. 0 when dense. */
  readonly errorBound: number;
}

/** The inputs, checked, with what every block of them needs. */
export interface CheckedRows extends AttentionRows {
  /** D */
  readonly dimension: number;
  /** V */
  readonly valueWidth: number;
  /** [T] 1 / length of each row, 0 for a zero row. */
  readonly queryScales: Float64Array;
  readonly keyScales: Float64Array;
}

/**
 * @returns 1 / length of each row, 0 for a zero row
 * @throws NotFiniteError for a number that is not finite.
 */
export function rowScales(what: string, matrix: Float32Array, width: number): Float64Array {
  const scales = new Float64Array(width === 0 ? 0 : matrix.length / width);
  for (let row = 0, at = 0; row < scales.length; row++) {
    let sum = 0;
    for (const end = at + width; at < end; at++) sum += (matrix[at] as number) * (matrix[at] as number);
    if (!Number.isFinite(sum)) throw new NotFiniteError(what, `row ${row}`, firstNotFinite(matrix, row * width));
    scales[row] = sum === 0 ? 0 : 1 / Math.sqrt(sum);
  }
  return scales;
}

function firstNotFinite(matrix: Float32Array, start: number): number {
  return matrix.subarray(start).find((value) => !Number.isFinite(value)) as number;
}

/** @throws ValidationError, DimensionMismatchError, NotFiniteError for rows that cannot be attended to. */
export function checkRows(rows: AttentionRows): CheckedRows {
  const { turns, queries, keys, values } = rows;
  if (!Number.isInteger(turns) || turns < 1)
    throw new ValidationError(`turns must be a positive integer: ${turns}`, { turns });
  const dimension = rowWidth('queries', queries, turns);
  const valueWidth = rowWidth('values', values, turns);
  if (keys.length !== queries.length)
    throw new DimensionMismatchError('keys', `${turns} rows of ${dimension}`, `${keys.length} numbers`);
  const queryScales = rowScales('queries', queries, dimension);
  const keyScales = keys === queries ? queryScales : rowScales('keys', keys, dimension);
  if (values !== keys && values !== queries) rowScales('values', values, valueWidth);
  return { ...rows, dimension, valueWidth, queryScales, keyScales };
}

/** Places `first … first + count - 1`, which on a ring may lie before its first or after its last turn. */
export interface Places {
  readonly first: number;
  readonly count: number;
}

/** Consecutive places, `size` at a time. */
export function blocksOf(turns: number, size: number): Places[] {
  return Array.from({ length: Math.ceil(turns / size) }, (_, block) => {
    return { first: block * size, count: Math.min(size, turns - block * size) };
  });
}

/** Copies rows scaled to length 1; places beyond the turns wrap around. */
export function unitRows(matrix: Float32Array, scales: Float64Array, { first, count }: Places): Float32Array {
  const turns = scales.length;
  const width = matrix.length / turns;
  const rows = new Float32Array(count * width);
  for (let row = 0, at = 0; row < count; row++) {
    const source = (((first + row) % turns) + turns) % turns;
    const scale = scales[source] as number;
    for (let from = source * width, end = from + width; from < end; from++, at++)
      rows[at] = (matrix[from] as number) * scale;
  }
  return rows;
}

/** The rows at the places, without a copy where they are consecutive; places beyond the turns wrap around. */
export function rowsAt(matrix: Float32Array, turns: number, { first, count }: Places): Float32Array {
  const width = matrix.length / turns;
  if (first >= 0 && first + count <= turns) return matrix.subarray(first * width, (first + count) * width);
  const rows = new Float32Array(count * width);
  for (let row = 0; row < count; row++) {
    const source = (((first + row) % turns) + turns) % turns;
    rows.set(matrix.subarray(source * width, (source + 1) * width), row * width);
  }
  return rows;
}
