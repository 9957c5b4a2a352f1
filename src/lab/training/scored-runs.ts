import type { Run } from '../../model/run.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { FeatureTable } from '../../rank/learning/feature-table.ts';
import { findBestPlaces } from '../../rank/learning/table-metrics.ts';
import type { PoolRows } from '../../rank/signals/candidate-pool.ts';

/** The best candidates of each query, up to a number, as a run. @param scores row-major [Q, C] */
export function runOfScores(
  corpus: Corpus,
  table: FeatureTable,
  pool: PoolRows,
  scores: Float32Array,
  depth: number,
): Run {
  const best = new Int32Array(Math.min(depth, table.width));
  return new Map(
    table.queryIds.map((id, row) => {
      const count = findBestPlaces(scores, table.mask, row * table.width, (row + 1) * table.width, best);
      const ranked = Array.from(best.subarray(0, count), (pair) => ({
        id: corpus.turns[pool.positions[pair] as number]?.id as string,
        score: scores[pair] as number,
      }));
      return [id, ranked];
    }),
  );
}
