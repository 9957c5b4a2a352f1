import type { Query } from '../model/dataset.ts';
import type { Run } from '../model/run.ts';
import type { Scored } from '../model/tie-rule.ts';
import { type Ranking, rank } from '../retrieval/rank.ts';
import { type Retrieved, type RetrieverOptions, retrieve } from '../retrieval/retriever.ts';
import type { Workspace } from '../retrieval/workspace.ts';
import type { RankedTurn } from './result.ts';

/** What an arm retrieved for every query of a workspace, and its order. */
export interface ArmRanking {
  readonly retrieved: Retrieved;
  readonly ranking: Ranking;
}

export async function rankArm(
  workspace: Workspace,
  arm: RetrieverOptions & { readonly name: string },
  depth: number,
): Promise<ArmRanking> {
  const retrieved = await retrieve(workspace, arm);
  const name = (query: number, position: number) =>
    `arm ${arm.name}, query ${workspace.queries[query]?.id}, turn ${workspace.corpus.turns[position]?.id}`;
  return { retrieved, ranking: await rank(retrieved.pool, retrieved.scores, depth, name) };
}

/** The places of a query's ranking, best first, as pairs of the pool. */
function pairsOf({ retrieved: { pool }, ranking }: ArmRanking, query: number, depth: number): number[] {
  const start = query * ranking.depth;
  const places = ranking.places.subarray(start, start + Math.min(depth, ranking.depth));
  return Array.from(
    places.filter((place) => place >= 0),
    (place) => query * pool.width + place,
  );
}

function scored(workspace: Workspace, { retrieved: { pool, scores } }: ArmRanking, pair: number): Scored {
  return { id: workspace.corpus.turns[pool.positions[pair] as number]!.id, score: scores[pair] as number };
}

/** Every query's ranking by query id. */
export function runOf(workspace: Workspace, arm: ArmRanking): Run {
  return new Map(
    workspace.queries.map(({ id }, query) => [
      id,
      pairsOf(arm, query, arm.ranking.depth).map((pair) => scored(workspace, arm, pair)),
    ]),
  );
}

/** The top of some queries' rankings with the parts of its scores. */
export function inspectedRankings(
  workspace: Workspace,
  arm: ArmRanking,
  queries: readonly Query[],
  depth: number,
): RankedTurn[][] {
  const rowOf = new Map(workspace.queries.map(({ id }, row) => [id, row]));
  const columns = [...arm.retrieved.components.values()];
  return queries.map(({ id }) =>
    pairsOf(arm, rowOf.get(id) as number, depth).map((pair) => ({
      ...scored(workspace, arm, pair),
      components: columns.map((column) => column[pair] as number),
    })),
  );
}
