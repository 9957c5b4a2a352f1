import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { assertUnitRows, isZero } from '../candidates/query-batch.ts';

/**
 * The unit vectors of the turns, R rows. Where a turn's vector changes as its conversation grows, it has several rows, and row r is the one that a query sees whose
 * cutoff c is in `validFrom[r] <= c < validTo[r]`.
 */
export interface DenseRows {
  readonly dimension: number;
  /** Row-major [R, D]. */
  readonly vectors: Float32Array;
  /** [R] the turn that the row stands for. */
  readonly positions: Int32Array;
  /** [R], at least positions[r] + 1: no query sees a turn that is not earlier. */
  readonly validFrom: Int32Array;
  /** [R], exclusive. */
  readonly validTo: Int32Array;
}

/** No cutoff reaches it. */
export const FOREVER = 2 ** 31 - 1;

/** One row a turn, seen by every later query. */
export function buildUnchangingRows(vectors: Float32Array, dimension: number): DenseRows {
  const positions = Int32Array.from({ length: vectors.length / dimension }, (_, row) => row);
  return {
    dimension,
    vectors,
    positions,
    validFrom: positions.map((position) => position + 1),
    validTo: positions.map(() => FOREVER),
  };
}

/**
 * @throws DimensionMismatchError when the arrays do not fit each other.
 * @throws ValidationError for a position that is not in the corpus, a row that is valid before its turn exists, or two rows of a turn valid at once.
 * @throws NotFiniteError, ValidationError naming the turn whose vector is not finite, or neither of length 1 nor zero.
 */
export function assertDenseRows(rows: DenseRows, ids: readonly string[]): void {
  const { vectors, positions, validFrom, validTo, dimension } = rows;
  for (const [name, length] of Object.entries({
    validFrom: validFrom.length,
    validTo: validTo.length,
    vectors: vectors.length / dimension,
  })) {
    if (length !== positions.length) throw new DimensionMismatchError(`rows of ${name}`, positions.length, length);
  }
  assertUnitRows(vectors, dimension, (row) => `turn ${ids[positions[row]!]}`);
  for (const [row, position] of positions.entries()) {
    if (position < 0 || position >= ids.length)
      throw new ValidationError(
        `row ${row} has a turn outside the corpus of ${ids.length}: ${position}; pass positions of turns`,
        {
          row,
          position,
        },
      );
    if (validFrom[row]! <= position)
      throw new ValidationError(
        `row ${row} of turn ${ids[position]} is valid before the turn exists: ${validFrom[row]}; raise its validFrom`,
        { row },
      );
  }
  assertDisjoint(rows, ids);
}

function assertDisjoint({ positions, validFrom, validTo }: DenseRows, ids: readonly string[]): void {
  const order = Int32Array.from(positions.keys()).sort(
    (a, b) => positions[a]! - positions[b]! || validFrom[a]! - validFrom[b]!,
  );
  for (let i = 1; i < order.length; i++) {
    const [earlier, later] = [order[i - 1]!, order[i]!];
    if (positions[earlier] === positions[later] && validTo[earlier]! > validFrom[later]!)
      throw new ValidationError(
        `two rows are valid at the same time for turn: ${ids[positions[later]!]}; separate their intervals`,
        {
          rows: [earlier, later],
        },
      );
  }
}

/** Rows with a direction: a zero vector (a text without a known word) is nobody's neighbour. */
export function listNonZeroRows({ vectors, positions, dimension }: DenseRows): Int32Array {
  return Int32Array.from(positions.keys()).filter(
    (row) => !isZero(vectors.subarray(row * dimension, (row + 1) * dimension)),
  );
}

/** The turns of the rows that {@link listNonZeroRows} leaves out. */
export function listZeroRowTurns({ positions }: DenseRows, nonZero: Int32Array): Int32Array {
  const found = new Set(nonZero);
  return positions.filter((_, row) => !found.has(row));
}

/** Finds the rows of a turn, ascending, at the cost of those rows: who asks for few turns must not look at all rows, of which there are as many as turns. */
export function createRowFinder({ positions }: Pick<DenseRows, 'positions'>): (position: number) => Int32Array {
  const starts = new Int32Array(positions.reduce((most, position) => Math.max(most, position), -1) + 2);
  for (const position of positions) starts[position + 1]! += 1;
  for (let turn = 1; turn < starts.length; turn++) starts[turn]! += starts[turn - 1] as number;
  const rows = new Int32Array(positions.length);
  const next = starts.slice();
  for (const [row, position] of positions.entries()) rows[next[position]!++] = row;
  const findScopeStart = (position: number) => starts[position] ?? rows.length; // turns behind the last with a version
  return (position) => rows.subarray(findScopeStart(position), findScopeStart(position + 1));
}
