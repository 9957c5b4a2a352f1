import { DimensionMismatchError, NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import type { Candidates, MemoryQuestion, QueryBatch } from '../../model/candidates.ts';
import { type Corpus, findLowerBound } from '../../model/turns/corpus.ts';

/** The part of a query batch that says which turns each query may see. */
interface Visibility {
  readonly cutoffs: QueryBatch['cutoffs'];
  readonly visible?: QueryBatch['visible'] | undefined;
}

/** True if an ascending list of positions holds a position. */
export function isListed(ascending: Int32Array, position: number): boolean {
  return ascending[findLowerBound(ascending, position)] === position;
}

/** The queries of a batch by the list that they share, in the order of their first; null: those without a list. */
export function groupByVisibleList({ cutoffs, visible }: Visibility): Map<Int32Array | null, number[]> {
  const groups = new Map<Int32Array | null, number[]>();
  for (const query of cutoffs.keys()) {
    const list = visible?.[query] ?? null;
    const group = groups.get(list);
    if (group === undefined) groups.set(list, [query]);
    else group.push(query);
  }
  return groups;
}

/** [N] 1 for each position of a list, 0 for others. */
export function markListed(list: Int32Array, size: number): Uint8Array {
  const marks = new Uint8Array(size);
  for (const position of list) marks[position] = 1;
  return marks;
}

/**
 * Checks each list of a batch once, in a time linear in its length.
 *
 * @param size N, the turns that there are.
 * @throws DimensionMismatchError for another number of lists than queries.
 * @throws ValidationError for a list that is not ascending, repeats a position or has one outside 0 … N - 1, naming the
 *   first query with the list.
 */
export function assertVisibleLists(queries: Visibility, size: number): void {
  const { cutoffs, visible } = queries;
  if (visible === undefined) return;
  if (visible.length !== cutoffs.length)
    throw new DimensionMismatchError('lists of visible turns', cutoffs.length, visible.length);
  for (const [list, [query]] of groupByVisibleList(queries)) if (list !== null) assertList(list, query as number, size);
}

function assertList(list: Int32Array, query: number, size: number): void {
  for (let i = 0; i < list.length; i++) {
    const position = list[i] as number;
    if (position < 0 || position >= size)
      throw new ValidationError(
        `visible turn of query ${query} is outside the corpus of ${size}: ${position}; list positions in 0 … ${size - 1}`,
        { query, position },
      );
    if (i > 0 && position <= (list[i - 1] as number))
      throw new ValidationError(
        `visible turns of query ${query} do not ascend: ${position} after ${list[i - 1]}; sort them and list each once`,
        { query, position },
      );
  }
}

/** Candidates of all queries together: 16 GiB of positions and scores. */
const MAX_CANDIDATES = 2 ** 31;

/**
 * What every index checks at its door.
 *
 * @param size N, the turns that the index holds.
 * @throws ValidationError for a k that is no positive integer or too large for the queries, or a cutoff outside 0 … N.
 * @throws DimensionMismatchError, ValidationError for lists of visible turns as {@link assertVisibleLists}, and for
 *   seeds outside the corpus or with weights below 0.
 */
export function assertQueries(queries: QueryBatch, size: number, k: number): void {
  if (!Number.isInteger(k) || k < 1)
    throw new ValidationError(`k is not a positive integer: ${k}; pass a whole number from 1`, { k });
  if (queries.texts.length !== queries.cutoffs.length)
    throw new DimensionMismatchError('texts of a query batch', queries.cutoffs.length, queries.texts.length);
  const ranks = queries.cutoffs.length * k;
  if (ranks > MAX_CANDIDATES) {
    const message = `more than ${MAX_CANDIDATES} candidates for ${queries.cutoffs.length} queries with k ${k}; lower k`;
    throw new ValidationError(message, { k, size });
  }
  const outside = queries.cutoffs.find((cutoff) => cutoff < 0 || cutoff > size);
  if (outside !== undefined)
    throw new ValidationError(`cutoff is out of range: ${outside}; pass a number in 0 … ${size}`, {
      cutoff: outside,
      size,
    });
  if (queries.visible !== undefined) assertVisibleLists(queries, size);
  if (queries.concepts !== undefined && queries.concepts.length !== queries.cutoffs.length)
    throw new DimensionMismatchError('concepts of a query batch', queries.cutoffs.length, queries.concepts.length);
  if (queries.seeds !== undefined) assertSeeds(queries.seeds, queries.cutoffs.length, size);
}

/** What each question of a batch asks of memories. @throws ValidationError for a batch that does not say. */
export function assertAsked(index: string, { asked, cutoffs }: QueryBatch): readonly MemoryQuestion[] {
  if (asked === undefined)
    throw new ValidationError(
      `index ${index} needs what each question asks of memories: none given; pass \`asked\` with the queries`,
    );
  if (asked.length !== cutoffs.length)
    throw new DimensionMismatchError('questions of a query batch', cutoffs.length, asked.length);
  return asked;
}

function assertSeeds(seeds: NonNullable<QueryBatch['seeds']>, count: number, size: number): void {
  if (seeds.length !== count) throw new DimensionMismatchError('seeds of a query batch', count, seeds.length);
  for (const [query, given] of seeds.entries()) {
    if (given === null) continue;
    const { positions, weights } = given;
    if (positions.length !== weights.length)
      throw new DimensionMismatchError(`weights of the seeds of query ${query}`, positions.length, weights.length);
    const outside = positions.find((position) => position < 0 || position >= size);
    if (outside !== undefined)
      throw new ValidationError(
        `seed of query ${query} is outside the corpus of ${size}: ${outside}; pass positions in 0 … ${size - 1}`,
        { query, position: outside },
      );
    const weight = weights.find((value) => !(value >= 0 && value < Number.POSITIVE_INFINITY));
    if (weight !== undefined)
      throw new ValidationError(
        `weight of a seed of query ${query} is negative or not finite: ${weight}; pass a number from 0`,
        { query, weight },
      );
  }
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

/**
 * The turns of a query's list that are before its cutoff, ascending: a view. null for a query without a list, which
 * sees every turn before its cutoff.
 */
export function listVisibleTurns({ cutoffs, visible }: Visibility, query: number): Int32Array | null {
  const list = visible?.[query] ?? null;
  return list === null ? null : list.subarray(0, findLowerBound(list, cutoffs[query] as number));
}

/** The queries in the order of their cutoffs, in which a replay answers them; of equal ones the earlier. */
export function orderByCutoff(cutoffs: Int32Array): Int32Array {
  return Int32Array.from(cutoffs.keys()).sort((a, b) => cutoffs[a]! - cutoffs[b]! || a - b);
}

/** Candidates with every slot empty. */
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
 * The guard wherever candidates enter: a query sees the turns that are strictly earlier, of the conversation that it
 * asks, and in its list of visible turns.
 *
 * @param queries the batch that was searched.
 * @param corpus whose positions the candidates are.
 * @throws ValidationError naming the query and the position.
 */
export function assertAdmissible(
  { positions, width }: Candidates,
  queries: QueryBatch,
  corpus: Pick<Corpus, 'conversationOf'>,
): void {
  const count = queries.cutoffs.length;
  if (positions.length !== count * width)
    throw new ValidationError(
      `candidates of ${count} queries with ${width} places each have ${positions.length} places; pass every place`,
      { ranks: positions.length },
    );
  for (const [rank, position] of positions.entries()) {
    if (position < 0) continue;
    const query = Math.floor(rank / width);
    const fault = findVisibilityFault(queries, query, position, corpus);
    if (fault !== null)
      throw new ValidationError(`candidate of query ${query} ${fault}`, {
        query,
        position,
        cutoff: queries.cutoffs[query],
      });
  }
}

/** @returns why a query may not see a turn, and what to do; null where it may. */
function findVisibilityFault(
  { cutoffs, conversations, visible }: QueryBatch,
  query: number,
  position: number,
  { conversationOf }: Pick<Corpus, 'conversationOf'>,
): string | null {
  const cutoff = cutoffs[query] as number;
  if (position >= cutoff)
    return `is not strictly earlier, ${cutoff} turns existed: position ${position}; let the index return earlier turns only`;
  const conversation = conversations?.[query] ?? -1;
  if (conversation >= 0 && conversationOf[position] !== conversation)
    return `is of another conversation than the query asks: position ${position}; let the index return turns of that conversation only`;
  const list = visible?.[query] ?? null;
  if (list !== null && !isListed(list, position))
    return `is hidden from the query: position ${position}; let the index return turns of the list in \`visible\` only`;
  return null;
}

/**
 * Checks pairs of queries and turns, row-major [Q, width], -1 for padding.
 *
 * @throws DimensionMismatchError for another number of pairs; ValidationError for a position that is not before its
 *   query's cutoff.
 */
export function assertPairs({ cutoffs }: QueryBatch, positions: Int32Array, width: number): void {
  if (positions.length !== cutoffs.length * width)
    throw new DimensionMismatchError('pairs to score', cutoffs.length * width, positions.length);
  for (let pair = 0; pair < positions.length; pair++) {
    const [query, position] = [Math.floor(pair / width), positions[pair]!];
    if (position >= cutoffs[query]!)
      throw new ValidationError(
        `pair of query ${query} is not strictly earlier: position ${position}; pass earlier turns only`,
        { query, position },
      );
  }
}

/**
 * What a search has to say when it is over; rows without a direction that a query could have found otherwise are not
 * passed over in silence.
 *
 * @param zeroTurns positions of turns with zero vectors.
 */
export function describeSearch(cutoffs: Int32Array, zeroTurns: Int32Array): string {
  const latest = cutoffs.reduce((most, cutoff) => Math.max(most, cutoff), 0);
  const zeros = zeroTurns.filter((position) => position < latest).length;
  return `${cutoffs.length} queries${zeros === 0 ? '' : `, zero vectors left out: ${zeros}`}`;
}
