import { NewestFirstIndex } from '../../index/candidates/top-selection.ts';
import type { Query } from '../../model/dataset.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { QueryFrames } from '../../ops/trajectory/query-frames.ts';
import type { SampleWorld } from './corpus.fixture.ts';
import { type CandidatePool, type Column, joinCandidates } from './stage.ts';
import { createSubcorpusIndex } from './subcorpus.ts';
import { type FrameOptions, pairFrames } from './trajectory-score.ts';
import type { Workspace } from './workspace.ts';
import type { ControlOptions } from './worlds/world-parts.ts';

/** The newest turns of each query. */
export async function buildNewestPool(workspace: Workspace, k: number): Promise<CandidatePool> {
  const { turnVectors: vectors, dimension, seed, subcorpora, batch, queries, corpus } = workspace;
  const index = await createSubcorpusIndex({ index: 'newest', k }, subcorpora, { vectors, dimension, seed });
  const newest = await index.search(batch, k);
  const rows = joinCandidates([newest], queries.length, corpus.compareTies, () => true);
  return { ...rows, stage: { name: 'pool', key: `newest ${k}`, inputs: [], isKept: true } };
}

/** The newest turns of each query but for a third: rows of all lengths, some of them empty. */
export async function drawSamplePool(workspace: Workspace): Promise<CandidatePool> {
  const newest = await new NewestFirstIndex(workspace.corpus.size).search(workspace.batch, 17);
  const isSampled = (q: number, turn: number) => (q * turn) % 3 > 0;
  const rows = joinCandidates([newest], workspace.queries.length, (a, b) => a - b, isSampled);
  return { ...rows, stage: { name: 'pool', key: 'by hand', inputs: [], isKept: true } };
}

/** What each candidate of a query should have. */
export type Formula = (query: Query, turns: readonly Turn[]) => readonly number[];

export const scoreEachTurn =
  (score: (query: Query, turn: Turn) => number): Formula =>
  (query, turns) =>
    turns.map((turn) => score(query, turn));

/** A query's candidates, without the padding. */
export function listCandidateTurns({ corpus }: Workspace, { positions, width }: CandidatePool, query: number): Turn[] {
  const row = positions.subarray(query * width, (query + 1) * width).filter((position) => position >= 0);
  return Array.from(row, (position) => corpus.turns[position] as Turn);
}

/** The greatest difference of a column from what each query's candidates should have; padding is not looked at. */
export function findWorstColumnError(
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
    expected(query, listCandidateTurns(workspace, pool, q)).map((value, i) =>
      Math.abs((column[q * pool.width + i] as number) - value),
    ),
  );
  return errors.reduce((worst, error) => Math.max(worst, error), 0); // NaN is the worst
}

/** Frames of every pair in the world of a control. */
export function computeFramesIn(
  workspace: Workspace,
  pool: CandidatePool,
  options: FrameOptions,
  control: ControlOptions | null,
): Promise<QueryFrames> {
  const world = workspace.under(control);
  return world.get(pairFrames(options, world), pool);
}
