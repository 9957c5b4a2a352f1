import type { StartProgress } from '../core/progress.ts';
import type { Workspace } from '../retrieval/workspace.ts';
import { type FrameTables, frameTables } from '../trajectory/frame-tables.ts';
import type { QueryPoints } from '../trajectory/query-frames.ts';
import { textComponents } from './text-components.ts';

/** What the coordinates of the turns are computed from. */
export async function turnTables(workspace: Workspace, progress: StartProgress): Promise<FrameTables> {
  const { corpus, turnVectors, graph } = workspace;
  const texts = corpus.turns.map(({ text }) => text);
  const components = await workspace.stage(graph.turnComponents(), () => textComponents(texts, progress));
  return frameTables(corpus, turnVectors, components);
}

/** What the coordinates of the queries are computed from. */
export async function queryPoints(workspace: Workspace, progress: StartProgress): Promise<QueryPoints> {
  const { corpus, queries, batch, graph } = workspace;
  const components = await workspace.stage(graph.queryComponents(), () => textComponents(batch.texts, progress));
  return {
    timestamps: Float64Array.from(queries, ({ timestamp }) => timestamp),
    components,
    vectors: batch.vectors,
    anchors: Int32Array.from(queries, ({ anchorTurnId }) =>
      anchorTurnId === null ? -1 : corpus.position(anchorTurnId),
    ),
  };
}
