import * as tf from '@tensorflow/tfjs-core';
import { DimensionMismatchError, IndexBuildError, ValidationError } from '../../core/errors/errors.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import { scoped } from '../../core/tensors/scope.ts';
import { ignoreProgress, letEventsIn, type StartProgress } from '../../core/terminal/progress.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../../model/candidates.ts';
import { createTieOrder } from '../../model/turns/tie-rule.ts';
import type { IndexContext } from '../candidates/index-definition.ts';
import {
  allocateCandidates,
  assertQueries,
  assertQueryVectors,
  assertUnitRows,
  describeSearch,
  groupByVisibleList,
  isZero,
} from '../candidates/query-batch.ts';
import type { QueryPart, SearchedRows } from './best-rows.ts';

/**
 * The unit vectors of the turns, R rows. Where a turn's vector changes as its conversation grows, it has several rows,
 * and row r is the one that a query sees whose cutoff c is in `validFrom[r] <= c < validTo[r]`.
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
 * @throws ValidationError for a position that is not in the corpus, a row that is valid before its turn exists, or two
 *   rows of a turn valid at once.
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
function listZeroRowTurns({ positions }: DenseRows, nonZero: Int32Array): Int32Array {
  const found = new Set(nonZero);
  return positions.filter((_, row) => !found.has(row));
}

/**
 * Finds the rows of a turn, ascending, at the cost of those rows: who asks for few turns must not look at all rows, of
 * which there are as many as turns.
 */
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

/** 24 MiB, and a dozen times over where a card masks them. From 32 MiB on, malloc maps fresh pages for each block. */
const BLOCK = 3 * 2 ** 21;
/** Cutoffs are compared as float32, which holds integers up to here. */
const MAX_TURNS = 2 ** 24;
/** From this share of rows on, a copy costs a query more than to score all rows: `npm run bench -- filtered-search`. */
const COPIED_SHARE = 0.25;
/**
 * Exact search by cosine: every row is scored on the active backend, a batch of queries at a time; the recall oracle of
 * the approximate indexes. `best-rows.ts` takes the best admissible rows.
 *
 * Rows lie in descending order of their turn's id, and the first of equal scores is kept, so the tie rule holds up to
 * the last place. Vectors are of length 1 or zero; a zero row is no candidate, and a zero query has none. The rows of a
 * list of visible turns are prepared once for all of its queries.
 */
export class FlatIndex implements CandidateIndex {
  readonly name = 'flat';
  readonly #zeroTurns: Int32Array;
  readonly #size: number;
  readonly #dimension: number;
  readonly #block: number;
  readonly #rows: DenseRows;
  /** [R'] the rows on the device. */
  readonly #order: Int32Array;
  #device: SearchedRows | null;

  /**
   * @param ids [N] of the turns in time order.
   * @param block scores computed at once, rows × queries.
   */
  constructor(ids: readonly string[], rows: DenseRows, block: number = BLOCK) {
    if (ids.length > MAX_TURNS)
      throw new IndexBuildError('flat', `${ids.length} turns are more than ${MAX_TURNS}; use hnsw`);
    assertDenseRows(rows, ids);
    const compareTies = createTieOrder(ids);
    const order = listNonZeroRows(rows).sort((a, b) => compareTies(rows.positions[a]!, rows.positions[b]!));
    this.#zeroTurns = listZeroRowTurns(rows, order);
    this.#size = ids.length;
    this.#dimension = rows.dimension;
    this.#block = block;
    this.#rows = rows;
    this.#order = order;
    this.#device = upload(rows, order);
  }

  async search(queries: QueryBatch, k: number, progress: StartProgress = ignoreProgress): Promise<Candidates> {
    const device = this.#device;
    if (device === null) throw new ValidationError('index was disposed: flat; build a new index');
    assertQueries(queries, this.#size, k);
    assertQueryVectors(queries, this.#dimension);
    const candidates = allocateCandidates(queries.cutoffs.length, k);
    const { countQueriesTogether, takeBest } = await import('./best-rows.ts');
    const together = countQueriesTogether();
    const stage = progress('flat', queries.cutoffs.length);
    let done = 0;
    for (const [list, members] of groupByVisibleList(queries)) {
      const searched = list === null ? device : this.#selectRows(device, list);
      try {
        const most = Math.floor(this.#block / Math.max(1, searched.positions.length));
        const block = Math.max(together, most - (most % together));
        for (let start = 0; start < members.length; start += block) {
          const part = members.slice(start, start + block);
          if (searched.positions.length > 0) await takeBest(searched, gatherQueries(queries, part), candidates);
          done += part.length;
          stage.update(done);
          await letEventsIn();
        }
      } finally {
        if (searched.vectors !== device.vectors) searched.vectors.dispose();
      }
    }
    stage.finish(describeSearch(queries.cutoffs, this.#zeroTurns));
    return candidates;
  }

  /** The rows of the turns of a list, in the same order: a copy of few, or all of them, of which the hidden are never valid. */
  #selectRows(device: SearchedRows, list: Int32Array): SearchedRows {
    const listed = new Uint8Array(this.#size);
    for (const position of list) listed[position] = 1;
    const { positions, validFrom } = this.#rows;
    const isListed = (row: number) => listed[positions[row]!] === 1;
    const order = this.#order.filter(isListed);
    if (order.length < COPIED_SHARE * this.#order.length) return upload(this.#rows, order);
    const never = this.#size + 1;
    return { ...device, validFrom: this.#order.map((row) => (isListed(row) ? validFrom[row]! : never)) };
  }

  dispose(): void {
    this.#device?.vectors.dispose();
    this.#device = null;
  }
}

function gatherQueries({ vectors, cutoffs }: QueryBatch, asked: readonly number[]): QueryPart {
  const dimension = vectors.length / cutoffs.length;
  return {
    queries: asked,
    vectors: gatherRows(vectors, dimension, asked),
    cutoffs: Int32Array.from(asked, (query) => cutoffs[query]!),
  };
}

function upload(rows: DenseRows, order: Int32Array): SearchedRows {
  const { dimension } = rows;
  const pickOrdered = (values: Int32Array) => order.map((row) => values[row]!);
  return {
    vectors: scoped('flat', () => tf.tensor2d(gatherRows(rows.vectors, dimension, order), [order.length, dimension])),
    positions: pickOrdered(rows.positions),
    validFrom: pickOrdered(rows.validFrom),
    validTo: pickOrdered(rows.validTo),
  };
}

export function createFlat(_: unknown, { corpus, vectors, dimension }: IndexContext): FlatIndex {
  const ids = corpus.turns.map(({ id }) => id);
  return new FlatIndex(ids, buildUnchangingRows(vectors, dimension));
}
