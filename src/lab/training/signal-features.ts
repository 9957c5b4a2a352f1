import type { Dataset, Query } from '../../model/dataset.ts';
import type { FeatureTable } from '../../rank/learning/feature-table.ts';
import type { SignalTable } from '../../rank/signals/bank/signal-bank.ts';
import type { CandidatePool } from '../../rank/signals/candidate-pool.ts';

/** Judgements of a pool's candidates, and of the turns that it misses. */
function judgeCandidates(dataset: Dataset, queries: readonly Query[], pool: CandidatePool) {
  const { corpus, qrels } = dataset;
  const mask = Uint8Array.from(pool.positions, (position) => (position < 0 ? 0 : 1));
  const grades = new Float32Array(pool.positions.length);
  const missed = new Int32Array(queries.length);
  const missedGrades: number[] = [];
  for (const [row, { id }] of queries.entries()) {
    const slots = new Map<number, number>();
    for (let pair = row * pool.width; pair < (row + 1) * pool.width; pair++)
      slots.set(pool.positions[pair] as number, pair);
    for (const [turnId, grade] of qrels.get(id) ?? []) {
      if (grade <= 0) continue;
      const pair = slots.get(corpus.getPosition(turnId));
      if (pair !== undefined) grades[pair] = grade;
      else {
        missed[row]! += 1;
        missedGrades.push(grade);
      }
    }
  }
  return { mask, grades, missed, missedGrades: Float32Array.from(missedGrades) };
}

/** A table of signals with the judgements of a dataset, for models to be trained on. */
export function buildFeatureTable(
  dataset: Dataset,
  queries: readonly Query[],
  pool: CandidatePool,
  { signals, values }: SignalTable,
): FeatureTable {
  return {
    signals,
    queryIds: queries.map(({ id }) => id),
    clusters: queries.map(({ cluster }) => cluster),
    width: pool.width,
    values,
    ...judgeCandidates(dataset, queries, pool),
    relevantGrade: dataset.relevantGrade,
  };
}
