import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import type { Candidates } from '../../model/candidates.ts';

/**
 * Recall of the candidates' first k against the oracle's first k (fewer if the oracle found fewer), averaged over the queries for which the oracle found a turn.
 *
 * @throws DimensionMismatchError when the two are not about the same number of queries.
 * @throws ValidationError when either has fewer than k places, and when the oracle found nothing for any query.
 */
export function recallAt(k: number, candidates: Candidates, oracle: Candidates): number {
  const queryCount = oracle.positions.length / oracle.width;
  if (candidates.positions.length / candidates.width !== queryCount)
    throw new DimensionMismatchError('queries', queryCount, candidates.positions.length / candidates.width);
  if (k > Math.min(candidates.width, oracle.width))
    throw new ValidationError(`candidates have fewer than k places: ${k}; search with a larger k`, { k });
  let sum = 0;
  let counted = 0;
  for (let query = 0; query < queryCount; query++) {
    const wanted = listTopPositions(oracle, query, k);
    if (wanted.length === 0) continue;
    const found = new Set(listTopPositions(candidates, query, k));
    sum += wanted.filter((position) => found.has(position)).length / wanted.length;
    counted++;
  }
  if (counted === 0)
    throw new ValidationError(
      `exact index finds nothing for any of ${queryCount} queries; check their times and the corpus`,
      { queryCount },
    );
  return sum / counted;
}

function listTopPositions({ positions, width }: Candidates, query: number, k: number): number[] {
  return [...positions.subarray(query * width, query * width + k)].filter((position) => position >= 0);
}
