import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { computeRowWidth, gatherRows } from '../../core/tensors/rows.ts';

/** B queries, and turns 0 … T - 1 of one conversation in ring order, all on the host and row-major. One array may serve as all three. */
export interface AttentionRows {
  /** T */
  readonly turns: number;
  /** [B, D] */
  readonly queries: Float32Array;
  /** [T, D] */
  readonly keys: Float32Array;
  /** [T, V] */
  readonly values: Float32Array;
  /**
   * [B] where each query stands, in 0 … T - 1 and in any order. Without it B = T, and each turn asks from its own
   * position.
   */
  readonly queryRingPositions?: Int32Array;
  /** [T] 0 for a key that no query may see: a position may be empty. */
  readonly keyMask?: Uint8Array;
  /** Row-major [B, T] 0 for a key that the query may not see. */
  readonly mask?: Uint8Array;
}

/** The result, the method that computed it, and its error bound. */
export interface RowAttention {
  /** Row-major [B, V]; a row without an admissible key is zero. */
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

/** The checked inputs, with the values that every block needs. */
export interface CheckedRows extends AttentionRows {
  /** D */
  readonly dimension: number;
  /** V */
  readonly valueWidth: number;
  /** [B] 1 / length of each row, 0 for a zero row. */
  readonly queryScales: Float64Array;
  /** [T] */
  readonly keyScales: Float64Array;
  /** [B] rows of the queries by ascending position. */
  readonly order: Int32Array;
  /** [B] their positions, ascending. */
  readonly ringPositions: Int32Array;
}

function sumSquares(matrix: Float32Array, start: number, end: number): number {
  let sum = 0;
  for (let at = start; at < end; at++) sum += (matrix[at] as number) * (matrix[at] as number);
  return sum;
}

/** Writes the sums of squares of four rows, side by side: a processor waits for each addition to one sum. */
function sumSquaresOfFour(matrix: Float32Array, width: number, row: number, sums: Float64Array): void {
  let first = 0;
  let second = 0;
  let third = 0;
  let fourth = 0;
  for (let at = row * width, end = at + width; at < end; at++) {
    const a = matrix[at] as number;
    const b = matrix[at + width] as number;
    const c = matrix[at + 2 * width] as number;
    const d = matrix[at + 3 * width] as number;
    first += a * a;
    second += b * b;
    third += c * c;
    fourth += d * d;
  }
  sums[row] = first;
  sums[row + 1] = second;
  sums[row + 2] = third;
  sums[row + 3] = fourth;
}

/**
 * @returns 1 / length of each row, 0 for a zero row
 * @throws NotFiniteError for a number that is not finite.
 */
export function computeRowScales(what: string, matrix: Float32Array, width: number): Float64Array {
  const sums = new Float64Array(width === 0 ? 0 : matrix.length / width);
  let row = 0;
  for (; row + 4 <= sums.length; row += 4) sumSquaresOfFour(matrix, width, row, sums);
  for (; row < sums.length; row++) sums[row] = sumSquares(matrix, row * width, (row + 1) * width);
  return sums.map((sum, row) => {
    if (!Number.isFinite(sum)) throw new NotFiniteError(what, `row ${row}`, findNotFinite(matrix, row * width));
    return sum === 0 ? 0 : 1 / Math.sqrt(sum);
  });
}

function findNotFinite(matrix: Float32Array, start: number): number {
  return matrix.subarray(start).find((value) => !Number.isFinite(value)) as number;
}

/** @throws ValidationError for a position that no turn has. */
function assertRingPositions(ringPositions: Int32Array, turns: number): void {
  const outside = ringPositions.findIndex((ringPosition) => ringPosition < 0 || ringPosition >= turns);
  if (outside >= 0)
    throw new ValidationError(
      `position of query ${outside} is out of range: ${ringPositions[outside]}; pass a position in 0 … ${turns - 1}`,
      { turns },
    );
}

function assertMask(what: string, mask: Uint8Array | undefined, size: number): void {
  if (mask !== undefined && mask.length !== size) throw new DimensionMismatchError(what, size, mask.length);
}

/** @returns rows of the queries by ascending position, and those positions */
function orderRingPositions({
  turns,
  queryRingPositions,
}: AttentionRows): Pick<CheckedRows, 'order' | 'ringPositions'> {
  if (queryRingPositions === undefined) {
    const ringPositions = Int32Array.from({ length: turns }, (_, ringPosition) => ringPosition);
    return { order: ringPositions, ringPositions };
  }
  const order = Int32Array.from(queryRingPositions.keys()).sort(
    (a, b) => (queryRingPositions[a] as number) - (queryRingPositions[b] as number) || a - b,
  );
  return { order, ringPositions: order.map((row) => queryRingPositions[row] as number) };
}

/** @throws ValidationError, DimensionMismatchError, NotFiniteError for rows that cannot be attended to. */
export function checkRows(rows: AttentionRows): CheckedRows {
  const { turns, queries, keys, values, queryRingPositions, keyMask, mask } = rows;
  if (!Number.isInteger(turns) || turns < 1)
    throw new ValidationError(`number of turns is not a positive integer: ${turns}; pass a whole number from 1`, {
      turns,
    });
  const count = queryRingPositions === undefined ? turns : queryRingPositions.length;
  const dimension = count === 0 ? computeRowWidth('keys', keys, turns) : computeRowWidth('queries', queries, count);
  const valueWidth = computeRowWidth('values', values, turns);
  if (keys.length !== turns * dimension)
    throw new DimensionMismatchError('keys', `${turns} rows of ${dimension}`, `${keys.length} numbers`);
  if (queryRingPositions !== undefined) assertRingPositions(queryRingPositions, turns);
  assertMask('keyMask', keyMask, turns);
  assertMask('mask', mask, count * turns);
  const queryScales = computeRowScales('queries', queries, dimension);
  const keyScales = keys === queries ? queryScales : computeRowScales('keys', keys, dimension);
  if (values !== keys && values !== queries) computeRowScales('values', values, valueWidth);
  return { ...rows, dimension, valueWidth, queryScales, keyScales, ...orderRingPositions(rows) };
}

/** Positions `first … first + count - 1`, which on a ring may lie before its first or after its last turn. */
export interface RingSpan {
  readonly first: number;
  readonly count: number;
}

/** Numbers 0 … total - 1, `size` at a time. */
export function splitIntoBlocks(total: number, size: number): RingSpan[] {
  return Array.from({ length: Math.ceil(total / size) }, (_, block) => {
    return { first: block * size, count: Math.min(size, total - block * size) };
  });
}

/** Row of each position; positions beyond the turns wrap around. */
export function listRowNumbers({ first, count }: RingSpan, turns: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => (((first + i) % turns) + turns) % turns);
}

/** Copies rows scaled to length 1. */
export function copyUnitRows(matrix: Float32Array, scales: Float64Array, rows: Int32Array): Float32Array {
  const width = scales.length === 0 ? 0 : matrix.length / scales.length;
  const units = new Float32Array(rows.length * width);
  for (let row = 0, at = 0; row < rows.length; row++) {
    const source = rows[row] as number;
    const scale = scales[source] as number;
    for (let from = source * width, end = from + width; from < end; from++, at++)
      units[at] = (matrix[from] as number) * scale;
  }
  return units;
}

/** The rows at the positions, without a copy where they are consecutive; positions beyond the turns wrap around. */
export function viewRowsAt(matrix: Float32Array, turns: number, ringPositions: RingSpan): Float32Array {
  const width = matrix.length / turns;
  const { first, count } = ringPositions;
  if (first >= 0 && first + count <= turns) return matrix.subarray(first * width, (first + count) * width);
  return gatherRows(matrix, width, listRowNumbers(ringPositions, turns));
}

/**
 * Puts conversations of about the same length together until a pack is full, so that the products of a pack are as
 * large as a device likes them.
 *
 * @param lengths turns of each conversation
 * @param capacity turns of a pack; a longer conversation is a pack of its own
 * @returns packs of indices of conversations, the longest first
 */
export function packConversations(lengths: readonly number[], capacity: number): number[][] {
  const packs: number[][] = [];
  let room = 0;
  const longestFirst = [...lengths.keys()].sort((a, b) => (lengths[b] as number) - (lengths[a] as number) || a - b);
  for (const conversation of longestFirst) {
    const turns = lengths[conversation] as number;
    if (packs.length === 0 || turns > room) {
      packs.push([]);
      room = capacity;
    }
    packs.at(-1)?.push(conversation);
    room -= turns;
  }
  return packs;
}
