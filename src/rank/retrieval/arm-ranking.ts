import type { Query } from '../../model/dataset.ts';
import type { Run } from '../../model/run.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import type { Workspace } from '../signals/workspace.ts';
import { type Ranking, rank } from './rank.ts';
import { type Retrieved, retrieve } from './retriever.ts';
import { runUnwatched, type Watch } from './steps/step.ts';
import type { RankOptions } from './written-steps.ts';

/** The candidates of an arm for every query of a workspace, and their order. */
export interface ArmRanking {
  readonly retrieved: Retrieved;
  readonly ranking: Ranking;
}

/** The ranks of Q rankings, K each. */
export interface RankedPositions {
  /** K. */
  readonly depth: number;
  /** Row-major [Q, K] corpus positions, best first; -1 if a query has fewer candidates. */
  readonly positions: Int32Array;
  /** Row-major [Q, K]; 0 if the position is -1. */
  readonly scores: Float32Array;
}

/** The parts of the scores of the first I ranks of Q rankings. */
export interface RankedComponents {
  /** The P parts of a score, in the order in which they were applied. */
  readonly componentNames: readonly string[];
  /** Row-major [Q, I, P]: the parts of the scores of the first I ranks. */
  readonly components: Float32Array;
  /** I. */
  readonly inspected: number;
}

/** Ranks every query of a workspace by an arm. @throws as `retrieve` and `rank`. */
export async function rankArm(
  workspace: Workspace,
  arm: RankOptions & { readonly name: string },
  depth: number,
  watch: Watch = runUnwatched,
): Promise<ArmRanking> {
  const retrieved = await retrieve(workspace, arm, watch);
  const formatRankedPair = (query: number, position: number) =>
    `arm ${arm.name}, query ${workspace.queries[query]?.id}, turn ${workspace.corpus.turns[position]?.id}`;
  return { retrieved, ranking: await rank(retrieved.pool, retrieved.scores, depth, formatRankedPair) };
}

/** The index of a ranked turn among the pairs of its pool; -1 where the query has fewer candidates. */
function locatePair({ retrieved: { pool }, ranking }: ArmRanking, query: number, rankIndex: number): number {
  const column = ranking.slots[query * ranking.depth + rankIndex] as number;
  return column < 0 ? -1 : query * pool.width + column;
}

/** Row-major [Q, I] the pairs of the first I ranks; -1 where the query has fewer candidates. */
export function listInspectedPairs(arm: ArmRanking, inspect: number): Int32Array {
  const inspected = Math.min(inspect, arm.ranking.depth);
  return Int32Array.from({ length: arm.retrieved.pool.queryCount * inspected }, (_, i) =>
    locatePair(arm, Math.floor(i / inspected), i % inspected),
  );
}

/** The rankings as positions of the corpus. */
export function listRankedPositions(arm: ArmRanking): RankedPositions {
  const { pool, scores } = arm.retrieved;
  const { depth, slots: ranks } = arm.ranking;
  const pairs = Int32Array.from(ranks, (_, i) => locatePair(arm, Math.floor(i / depth), i % depth));
  return {
    depth,
    positions: pairs.map((pair) => (pair < 0 ? -1 : (pool.positions[pair] as number))),
    scores: Float32Array.from(pairs, (pair) => (pair < 0 ? 0 : (scores[pair] as number))),
  };
}

/** The parts of the scores at the top of each ranking. */
export function listRankedComponents(arm: ArmRanking, inspect: number): RankedComponents {
  const { pool, components: columns } = arm.retrieved;
  const inspected = Math.min(inspect, arm.ranking.depth);
  const components = new Float32Array(pool.queryCount * inspected * columns.size);
  let next = 0;
  for (let query = 0; query < pool.queryCount; query++) {
    for (let rankIndex = 0; rankIndex < inspected; rankIndex++) {
      const pair = locatePair(arm, query, rankIndex);
      for (const column of columns.values()) components[next++] = pair < 0 ? 0 : (column[pair] as number);
    }
  }
  return { componentNames: [...columns.keys()], components, inspected };
}

/** A query's ranking, best first. */
export function readRanking(corpus: Corpus, { depth, positions, scores }: RankedPositions, query: number): Scored[] {
  const ranking: Scored[] = [];
  for (let i = query * depth; i < (query + 1) * depth && (positions[i] as number) >= 0; i++)
    ranking.push({ id: corpus.turns[positions[i] as number]!.id, score: scores[i] as number });
  return ranking;
}

/** Every query's ranking by query id. */
export function buildRun(corpus: Corpus, queries: readonly Query[], ranked: RankedPositions): Run {
  return new Map(queries.map(({ id }, query) => [id, readRanking(corpus, ranked, query)]));
}
