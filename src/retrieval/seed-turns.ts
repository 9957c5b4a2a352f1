import { TopSelection } from '../candidates/top-selection.ts';
import { reciprocalRankFusion, reciprocalRankOptions } from '../fusion/reciprocal-rank.ts';
import type { Candidates, SeedTurns } from '../model/candidates.ts';
import type { Corpus } from '../model/corpus.ts';

const { k: RANK_CONSTANT } = reciprocalRankOptions.parse({ method: 'rrf' });

/** The scores of one query in the order of its turns, NaN for those that a list lacks. */
function alignScores(
  { positions, scores, width }: Candidates,
  query: number,
  places: ReadonlyMap<number, number>,
): Float64Array {
  const column = new Float64Array(places.size).fill(Number.NaN);
  for (let i = query * width; i < (query + 1) * width; i++) {
    const place = places.get(positions[i] as number);
    if (place !== undefined) column[place] = scores[i] as number;
  }
  return column;
}

/** The turns of a query that the lists hold, in the order of the tie rule. */
function listFoundTurns(lists: readonly Candidates[], query: number, tieRanks: Int32Array): number[] {
  const found = new Set(
    lists.flatMap(({ positions, width }) => [...positions.subarray(query * width, (query + 1) * width)]),
  );
  found.delete(-1);
  return [...found].sort((a, b) => (tieRanks[a] as number) - (tieRanks[b] as number));
}

/**
 * Where the walks of each query start: the turns that other sources found, by the reciprocal rank fusion of their lists times the attribute `importance` of the turn
 * (1 without one). Best first by the tie rule.
 *
 * @param most turns of a query.
 * @param tieRanks [N]
 * @returns [Q] null where there are no lists, or no turns are asked for.
 */
export function fuseSeedTurns(
  lists: readonly Candidates[],
  queryCount: number,
  most: number,
  { turns }: Pick<Corpus, 'turns'>,
  tieRanks: Int32Array,
): (SeedTurns | null)[] {
  if (lists.length === 0 || most === 0) return Array(queryCount).fill(null);
  const readImportance = (position: number) => {
    const importance = turns[position]?.attributes?.importance;
    return typeof importance === 'number' ? importance : 1;
  };
  const top = new TopSelection(most, tieRanks);
  return Array.from({ length: queryCount }, (_, query) => {
    const found = listFoundTurns(lists, query, tieRanks);
    const places = new Map(found.map((position, place) => [position, place]));
    const columns = Object.fromEntries(lists.map((list, i) => [`${i}`, alignScores(list, query, places)]));
    const fused = reciprocalRankFusion(columns, { k: RANK_CONSTANT, weights: {} });
    for (const [place, position] of found.entries()) {
      const weight = (fused[place] as number) * readImportance(position);
      if (weight > 0) top.offer(position, weight);
    }
    const best = { positions: new Int32Array(most).fill(-1), scores: new Float32Array(most), width: most };
    top.drainTo(best, 0);
    const count = best.positions.findLastIndex((position) => position >= 0) + 1;
    return { positions: best.positions.subarray(0, count), weights: best.scores.subarray(0, count) };
  });
}
