import { ValidationError } from '../core/errors.ts';
import type { Candidates } from '../model/candidates.ts';

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
