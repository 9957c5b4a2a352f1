import type { TrajectoryOptions } from '../retrieval/retriever-options.ts';
import type { Workspace } from '../retrieval/workspace.ts';
import { type TreeAsOf, treesOf } from '../trajectory/conversation-tree.ts';
import { frameTables } from '../trajectory/frame-tables.ts';
import { type QueryFrames, queryFrames } from '../trajectory/query-frames.ts';
import type { CandidatePool } from './candidate-pool.ts';
import type { ControlOptions } from './worlds/control-options.ts';
import { movesFrames } from './worlds/null-controls.ts';
import { permutedFrames, permutedOrder } from './worlds/permuted-order.ts';
import { randomParents } from './worlds/random-parents.ts';
import { rewiredTrees } from './worlds/rewired-graph.ts';
import { shuffledFrames } from './worlds/shuffled-coordinates.ts';

/** Who answers whom, as of any moment: as the corpus has it, or as a control draws it. */
async function treesUnder(workspace: Workspace, control: ControlOptions | null): Promise<TreeAsOf> {
  const { corpus, turnVectors, graph } = workspace;
  const { tables } = await workspace.frames();
  if (control?.kind === 'rewired-graph') return rewiredTrees(tables, graph.seedOf(control));
  if (control?.kind !== 'random-parents') return treesOf(tables);
  return treesOf(frameTables(corpus, turnVectors, tables.components, randomParents(corpus, graph.seedOf(control))));
}

function moved(workspace: Workspace, pool: CandidatePool, frames: QueryFrames, control: ControlOptions): QueryFrames {
  const { corpus, queries, graph } = workspace;
  const seed = graph.seedOf(control);
  if (control.kind === 'shuffled-coordinates') return shuffledFrames(frames, pool, queries, seed);
  return permutedFrames(frames, pool.positions, corpus, permutedOrder(corpus, seed));
}

/** Coordinates and ring geometry of every pair, as of the query's moment; under a control those that it leaves. */
export function framesOf(
  workspace: Workspace,
  pool: CandidatePool,
  options: TrajectoryOptions,
  control: ControlOptions | null,
): Promise<QueryFrames> {
  return workspace.stage(workspace.graph.frames(pool.stage, options, control), async () => {
    if (control !== null && movesFrames(control))
      return moved(workspace, pool, await framesOf(workspace, pool, options, null), control);
    const { tables, points } = await workspace.frames();
    const trees = await treesUnder(workspace, control);
    const { dimensions, complexityScale } = options;
    return queryFrames(tables, points, pool.positions, { dimensions, complexityScale, trees });
  });
}
