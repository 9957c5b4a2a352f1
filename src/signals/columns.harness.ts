import type { Query } from '../model/dataset.ts';
import type { Turn } from '../model/turn.ts';
import type { Column } from '../retrieval/relevance.ts';
import type { Workspace } from '../retrieval/workspace.ts';
import { type CandidatePool, poolOf } from './candidate-pool.ts';
import type { SampleWorld } from './corpus.fixture.ts';

/** The newest turns of each query but for a third: rows of all lengths, some of them empty. */
export async function samplePool(workspace: Workspace): Promise<CandidatePool> {
  const newest = await workspace.candidates({ index: 'newest', k: 17 }, null);
  const admits = (q: number, turn: number) => (q * turn) % 3 > 0;
  const rows = poolOf([newest], workspace.queries.length, Int32Array.from(workspace.corpus.turns.keys()), admits);
  return { ...rows, stage: { name: 'pool', key: 'by hand', inputs: [] } };
}

/** What each candidate of a query should have. */
export type Formula = (query: Query, turns: readonly Turn[]) => readonly number[];

export const each =
  (score: (query: Query, turn: Turn) => number): Formula =>
  (query, turns) =>
    turns.map((turn) => score(query, turn));

/** A query's candidates, without the padding. */
export function candidatesOf({ corpus }: Workspace, { positions, width }: CandidatePool, query: number): Turn[] {
  const row = positions.subarray(query * width, (query + 1) * width).filter((position) => position >= 0);
  return Array.from(row, (position) => corpus.turns[position] as Turn);
}

/** The greatest difference of a column from what each query's candidates should have; padding is not looked at. */
export function worstError(
  column: Column,
  expected: Formula,
  {
    world,
    workspace,
    pool,
  }: { readonly world: SampleWorld; readonly workspace: Workspace; readonly pool: CandidatePool },
): number {
  if (column.length !== pool.positions.length) return Number.POSITIVE_INFINITY;
  const errors = world.queries.flatMap((query, q) =>
    expected(query, candidatesOf(workspace, pool, q)).map((value, i) =>
      Math.abs((column[q * pool.width + i] as number) - value),
    ),
  );
  return errors.reduce((worst, error) => Math.max(worst, error), 0); // NaN is the worst
}
