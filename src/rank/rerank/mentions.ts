import { getOrCompute } from '../../core/values/once.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { TurnConcepts } from '../signals/concept-list.ts';
import { defineSignal, type StageUse } from '../signals/signal.ts';
import type { PoolRows } from '../signals/stage.ts';
import { mapLocalRows, type Subcorpus, scoreBySubcorpus } from '../signals/subcorpus.ts';
import { turnConcepts } from '../signals/turn-concepts.ts';

/** Whose mentions count: those of the query's candidates, or of all turns before it. */
export type MentionsAmong = 'candidates' | 'turns';

/** The distinct concepts of a turn, by their numbers. */
type ListConcepts = (position: number) => readonly number[];

/** Which turns of a subcorpus mention each concept, ascending. */
function listMentions({ positions }: Subcorpus, listConceptsOf: ListConcepts): ReadonlyMap<number, number[]> {
  const mentions = new Map<number, number[]>();
  for (const [local, position] of positions.entries())
    for (const concept of listConceptsOf(position)) getOrCompute(mentions, concept, () => [] as number[]).push(local);
  return mentions;
}

/** The candidates of a row that mention each concept. */
function countInRow(row: Int32Array, listConceptsOf: ListConcepts): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const position of row)
    if (position >= 0)
      for (const concept of listConceptsOf(position)) counts.set(concept, (counts.get(concept) ?? 0) + 1);
  return counts;
}

/** The mean over the concepts of a turn of the share of the other turns that mention the concept. */
function averageShares(concepts: readonly number[], countOf: (concept: number) => number, others: number): number {
  if (concepts.length === 0 || others <= 0) return 0;
  return concepts.reduce((sum, concept) => sum + (countOf(concept) - 1) / others, 0) / concepts.length;
}

function scoreCandidates(pool: PoolRows, listConceptsOf: ListConcepts): Float32Array {
  const column = new Float32Array(pool.positions.length);
  for (let query = 0; query < pool.queryCount; query++) {
    const row = pool.positions.subarray(query * pool.width, (query + 1) * pool.width);
    const counts = countInRow(row, listConceptsOf);
    const others = row.filter((position) => position >= 0).length - 1;
    for (const [i, position] of row.entries())
      if (position >= 0)
        column[query * pool.width + i] = averageShares(
          listConceptsOf(position),
          (concept) => counts.get(concept) as number,
          others,
        );
  }
  return column;
}

/** How often the concepts of a candidate are mentioned elsewhere, in [0, 1]; 0 without a concept. */
export const mentionsSignal = defineSignal<MentionsAmong, { readonly concepts: StageUse<TurnConcepts> }>({
  name: 'mentions',
  summary:
    "mean over the turn's concepts of the share of the other candidates, or of the other earlier turns, that mention it",
  module: import.meta.url,
  isKept: false,
  reads: ['texts', 'times', 'attributes'],
  inputs: () => ({ concepts: turnConcepts('names') }),
  compute: ({ world, pool, inputs: { concepts } }, among) => {
    const known = new Map<number, readonly number[]>();
    const listConceptsOf = (position: number) =>
      getOrCompute(known, position, () => [
        ...new Set(concepts.indexes.subarray(concepts.offsets[position], concepts.offsets[position + 1])),
      ]);
    if (among === 'candidates') return scoreCandidates(pool, listConceptsOf);
    return scoreBySubcorpus(world, pool, ({ subcorpus, queryIndexes, batch }) => {
      const mentions = listMentions(subcorpus, listConceptsOf);
      const rows = mapLocalRows(subcorpus, pool, queryIndexes);
      return Float32Array.from(rows, (local, pair) => {
        if (local < 0) return 0;
        const cutoff = batch.cutoffs[Math.floor(pair / pool.width)] as number;
        const concepts = listConceptsOf(subcorpus.positions[local] as number);
        const countOf = (concept: number) => findLowerBound(mentions.get(concept) as number[], cutoff);
        return averageShares(concepts, countOf, cutoff - 1);
      });
    });
  },
});
