import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import type { QueryBatch } from '../../model/candidates.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';

/** The part of a query batch that says which turns each query may see. */
export interface Visibility {
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
 * @throws ValidationError for a list that is not ascending, repeats a position or has one outside 0 … N - 1, naming the first query with the list.
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
