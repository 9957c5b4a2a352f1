import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { suggestKnown } from '../../core/validation/validation.ts';

/**
 * Signals of the candidates of Q queries: Q x C pairs with F signals each. Candidates of a row are in the order that
 * the tie rule gives equal scores.
 */
export interface FeatureTable {
  /** [F] names. */
  readonly signals: readonly string[];
  /** [Q] */
  readonly queryIds: readonly string[];
  /** [Q] the conversation that folds are made by. */
  readonly clusters: readonly string[];
  /** C. */
  readonly width: number;
  /** Row-major [Q, C, F]; 0 where padded. */
  readonly values: Float32Array;
  /** Row-major [Q, C], 1 for a candidate. */
  readonly mask: Uint8Array;
  /** Row-major [Q, C]; 0 if unjudged. */
  readonly grades: Float32Array;
  /** [Q] relevant turns that the pool misses. */
  readonly missed: Int32Array;
  /** [sum of `missed`] their grades, query after query; `missed` holds the counts. */
  readonly missedGrades: Float32Array;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
}

function assertLength(what: string, expected: number, array: ArrayLike<unknown>): void {
  if (array.length !== expected)
    throw new DimensionMismatchError(`${what} of the feature table`, expected, array.length);
}

/**
 * @throws DimensionMismatchError for a part that does not fit the others, NotFiniteError for a value naming query,
 *   candidate and signal, ValidationError.
 */
export function assertFeatureTable(table: FeatureTable): void {
  const { signals, queryIds, width, values, relevantGrade } = table;
  if (!Number.isInteger(width) || width < 1)
    throw new ValidationError(`width is not an integer from 1: ${width}; pass the number of candidates of a query`);
  if (!(relevantGrade > 0))
    throw new ValidationError(`lowest relevant grade is not positive: ${relevantGrade}; pass a number above 0`);
  const repeated = signals.find((signal, i) => signals.indexOf(signal) < i);
  if (repeated !== undefined) throw new ValidationError(`feature table repeats a signal: ${repeated}; list it once`);
  const pairs = queryIds.length * width;
  assertLength('clusters', queryIds.length, table.clusters);
  assertLength('values', pairs * signals.length, values);
  assertLength('mask', pairs, table.mask);
  assertLength('grades', pairs, table.grades);
  assertLength('missed', queryIds.length, table.missed);
  assertLength(
    'missedGrades',
    table.missed.reduce((sum, count) => sum + count, 0),
    table.missedGrades,
  );
  const at = values.findIndex((value) => !Number.isFinite(value));
  if (at === -1) return;
  const pair = Math.floor(at / signals.length);
  const where = `query ${queryIds[Math.floor(pair / width)]}, candidate ${pair % width}`;
  throw new NotFiniteError(`signal ${signals[at % signals.length]}`, where, values[at] as number);
}

/**
 * The indices of named signals.
 *
 * @throws ValidationError naming the first that the table lacks, and the nearest it has.
 */
export function findSignalPositions(table: Pick<FeatureTable, 'signals'>, names: readonly string[]): Int32Array {
  return Int32Array.from(names, (name) => {
    const position = table.signals.indexOf(name);
    if (position >= 0) return position;
    const hint = suggestKnown(name, table.signals);
    throw new ValidationError(`unknown signal: ${name}; use ${hint}`, { name, known: table.signals });
  });
}

/** One signal of all pairs, row-major [Q, C]. */
export function copySignalColumn(table: FeatureTable, name: string): Float32Array {
  const [position] = findSignalPositions(table, [name]) as unknown as [number];
  const count = table.signals.length;
  const column = new Float32Array(table.mask.length);
  for (let pair = 0, at = position; pair < column.length; pair++, at += count)
    column[pair] = table.values[at] as number;
  return column;
}

/** For each query the start of its grades in `missedGrades`, and the end of the last. */
export function computeMissedOffsets(missed: Int32Array): Int32Array {
  const offsets = new Int32Array(missed.length + 1);
  for (let query = 0; query < missed.length; query++) offsets[query + 1] = offsets[query]! + missed[query]!;
  return offsets;
}

function gatherByteRows(array: Uint8Array, width: number, rows: ArrayLike<number>): Uint8Array {
  const part = new Uint8Array(rows.length * width);
  for (let i = 0; i < rows.length; i++) part.set(array.subarray(rows[i]! * width, (rows[i]! + 1) * width), i * width);
  return part;
}

/**
 * A table of chosen queries, in the order given.
 *
 * @throws ValidationError for a row that the table does not have.
 */
export function selectQueries(table: FeatureTable, queries: ArrayLike<number>): FeatureTable {
  const rows = Int32Array.from(queries);
  const wrong = rows.find((row) => row < 0 || row >= table.queryIds.length);
  if (wrong !== undefined)
    throw new ValidationError(
      `feature table of ${table.queryIds.length} queries has no row: ${wrong}; pass rows of the table`,
    );
  const offsets = computeMissedOffsets(table.missed);
  const grades = Array.from(rows, (row) => [...table.missedGrades.subarray(offsets[row], offsets[row + 1])]);
  return {
    signals: table.signals,
    width: table.width,
    relevantGrade: table.relevantGrade,
    queryIds: Array.from(rows, (row) => table.queryIds[row] as string),
    clusters: Array.from(rows, (row) => table.clusters[row] as string),
    values: gatherRows(table.values, table.width * table.signals.length, rows),
    mask: gatherByteRows(table.mask, table.width, rows),
    grades: gatherRows(table.grades, table.width, rows),
    missed: rows.map((row) => table.missed[row] as number),
    missedGrades: Float32Array.from(grades.flat()),
  };
}

/**
 * Rows of signals for folds. A signal of a fitted encoder has other values in every fold, since no fold fits on the
 * rows that it holds out.
 */
export interface FeatureSource {
  /** [Q] the conversation of each row, that folds are made by. */
  readonly clusters: readonly string[];
  /**
   * @param rows indices of the queries
   * @param heldOut clusters that must not be used to fit anything the signals depend on
   */
  gatherRowsFor(rows: Int32Array, heldOut: readonly string[]): Promise<FeatureTable>;
}

/** A table whose signals are fitted on nothing: they are the same in all folds. */
export function createFixedSource(table: FeatureTable): FeatureSource {
  return { clusters: table.clusters, gatherRowsFor: async (rows) => selectQueries(table, rows) };
}

/** The rows of a source after a change of one row at a time. */
export function createChangedSource(
  source: FeatureSource,
  change: (rows: FeatureTable) => FeatureTable,
): FeatureSource {
  return {
    clusters: source.clusters,
    gatherRowsFor: async (rows, heldOut) => change(await source.gatherRowsFor(rows, heldOut)),
  };
}
