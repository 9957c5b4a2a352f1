import { TopSelection } from '../../index/candidates/top-selection.ts';
import type { GraphIndexOptions } from '../../index/walks/graph-options.ts';
import type { Candidates, SeedTurns } from '../../model/candidates.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { convexCombination, convexCombinationOptions } from '../../ops/fusion/convex-combination.ts';
import { reciprocalRankFusion, reciprocalRankOptions } from '../../ops/fusion/reciprocal-rank.ts';
import type { ScoreColumns } from '../../ops/fusion/score-columns.ts';

const { k: RANK_CONSTANT } = reciprocalRankOptions.parse({ method: 'rrf' });

/** What the weights of seed turns follow. */
type SeedWeights = GraphIndexOptions['seeds']['weights'];

const FUSIONS: Readonly<Record<SeedWeights, (columns: ScoreColumns) => Float64Array>> = {
  ranks: (columns) => reciprocalRankFusion(columns, { k: RANK_CONSTANT, weights: {} }),
  scores: (columns) => {
    // A cosine below 0 says as little as an absent turn.
    const above = Object.entries(columns).map(([name, column]) => [name, column.map((score) => Math.max(score, 0))]);
    const weights = Object.fromEntries(Object.keys(columns).map((name) => [name, 1]));
    return convexCombination(Object.fromEntries(above), convexCombinationOptions.parse({ method: 'convex', weights }));
  },
};

/** The scores of one query in the order of its turns, NaN for those that a list lacks. */
function alignScores(
  { positions, scores, width }: Candidates,
  query: number,
  slotOf: ReadonlyMap<number, number>,
): Float64Array {
  const column = new Float64Array(slotOf.size).fill(Number.NaN);
  for (let i = query * width; i < (query + 1) * width; i++) {
    const slot = slotOf.get(positions[i] as number);
    if (slot !== undefined) column[slot] = scores[i] as number;
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
 * Where the walks of each query start: the turns that other sources found, by the fusion of their lists times the attribute `importance` of the turn (1 without
 * one). `ranks` fuses by reciprocal rank; `scores` sums the scores as shares of the largest of their list. Best first by the tie rule.
 *
 * @param seeds how many turns of a query, and what their weights follow.
 * @param tieRanks [N]
 * @returns [Q] null where there are no lists, or no turns are asked for.
 */
export function fuseSeedTurns(
  lists: readonly Candidates[],
  queryCount: number,
  { turns: most, weights }: Pick<GraphIndexOptions['seeds'], 'turns' | 'weights'>,
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
    const slotOf = new Map(found.map((position, slot) => [position, slot]));
    const columns = Object.fromEntries(lists.map((list, i) => [`${i}`, alignScores(list, query, slotOf)]));
    const fused = FUSIONS[weights](columns);
    for (const [slot, position] of found.entries()) {
      const weight = (fused[slot] as number) * readImportance(position);
      if (weight > 0) top.offer(position, weight);
    }
    const best = { positions: new Int32Array(most).fill(-1), scores: new Float32Array(most), width: most };
    top.drainTo(best, 0);
    const count = best.positions.findLastIndex((position) => position >= 0) + 1;
    return { positions: best.positions.subarray(0, count), weights: best.scores.subarray(0, count) };
  });
}
