import type { Candidates } from '../../model/candidates.ts';
import type { Column, PoolRows } from '../signals/candidate-pool.ts';
import { defineStage, type StageUse } from '../signals/signal.ts';

/** The scores of one query by position. A list with a negative score is shifted so that its lowest score is 0. */
function indexScores({ positions, scores, width }: Candidates, query: number): Map<number, number> {
  const row = Array.from({ length: width }, (_, i) => query * width + i).filter((i) => (positions[i] as number) >= 0);
  const lowest = row.reduce((least, i) => Math.min(least, scores[i] as number), 0);
  return new Map(row.map((i) => [positions[i] as number, (scores[i] as number) - lowest]));
}

/** @returns the scores of a list as a column of a pool; 0 for a candidate that the list lacks */
export function alignListScores(found: Candidates, { positions, width, queryCount }: PoolRows): Column {
  const column = new Float32Array(positions.length);
  for (let query = 0; query < queryCount; query++) {
    const byPosition = indexScores(found, query);
    for (let i = query * width; i < (query + 1) * width; i++) column[i] = byPosition.get(positions[i] as number) ?? 0;
  }
  return column;
}

/** The scores of a source's list as a column of a pool, never negative, since decay multiplies them; 0 for a candidate that the source did not find. */
export const listScores = defineStage<StageUse<Candidates>, Column, { readonly found: StageUse<Candidates> }>({
  name: 'list-scores',
  module: import.meta.url,
  of: 'pairs',
  isKept: false,
  reads: ({ reads }) => reads,
  key: () => null,
  inputs: (found) => ({ found }),
  compute: ({ pool, inputs: { found } }) => alignListScores(found, pool),
});
