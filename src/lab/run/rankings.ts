import { countRanksWithin } from '../../eval/metrics/judged-ranking.ts';
import type { Query } from '../../model/dataset.ts';
import type { Run } from '../../model/run.ts';
import { displayRun } from '../../model/run-display.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Scored } from '../../model/turns/tie-rule.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { type Ranking, rank } from '../../rank/retrieval/rank.ts';
import { type Retrieved, retrieve } from '../../rank/retrieval/retriever.ts';
import { runUnwatched, type Watch } from '../../rank/retrieval/steps/step.ts';
import type { RankOptions } from '../../rank/retrieval/written-steps.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import { createTokenCounter } from '../measure/passport.ts';
import type { RankedTurn } from '../measure/result.ts';
import type { ArmRecord, InspectedPlaces } from './arm-record.ts';
import { explainRankedTurn } from './memory-reasons.ts';

/** The candidates of an arm for every query of a workspace, and their order. */
export interface ArmRanking {
  readonly retrieved: Retrieved;
  readonly ranking: Ranking;
}

/** The places of Q rankings, K each. */
type RankedPositions = Pick<ArmRecord, 'depth' | 'positions' | 'scores'>;

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

/** Where a place of a ranking stands among the pairs of its pool; -1 where the query has fewer candidates. */
function locatePair({ retrieved: { pool }, ranking }: ArmRanking, query: number, rankIndex: number): number {
  const column = ranking.slots[query * ranking.depth + rankIndex] as number;
  return column < 0 ? -1 : query * pool.width + column;
}

/** Row-major [Q, I] the pairs of the first I places; -1 where the query has fewer candidates. */
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
export function listRankedComponents(
  arm: ArmRanking,
  inspect: number,
): Pick<ArmRecord, 'componentNames' | 'components' | 'inspected'> {
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
function readRanking(corpus: Corpus, { depth, positions, scores }: RankedPositions, query: number): Scored[] {
  const ranking: Scored[] = [];
  for (let i = query * depth; i < (query + 1) * depth && (positions[i] as number) >= 0; i++)
    ranking.push({ id: corpus.turns[positions[i] as number]!.id, score: scores[i] as number });
  return ranking;
}

/** [Q] the number of first places whose turns have at most this number of tokens together. */
export function countFittingPlaces(corpus: Corpus, { depth, positions }: RankedPositions, budget: number): Int32Array {
  const countTokens = createTokenCounter(corpus);
  return Int32Array.from({ length: positions.length / depth }, (_, query) => {
    const row = positions.subarray(query * depth, (query + 1) * depth).filter((position) => position >= 0);
    const tokens = Float64Array.from(row, (position) => countTokens((corpus.turns[position] as Turn).id));
    return countRanksWithin(tokens, budget);
  });
}

/** Every query's ranking by query id. */
export function buildRun(corpus: Corpus, queries: readonly Query[], ranked: RankedPositions): Run {
  return displayRun(new Map(queries.map(({ id }, query) => [id, readRanking(corpus, ranked, query)])));
}

/**
 * The top of some queries' rankings with the parts of its scores.
 *
 * @param all the queries that were ranked, in order.
 * @param shown some of them.
 */
export function buildInspectedRankings(
  corpus: Corpus,
  all: readonly Query[],
  record: RankedPositions & Pick<ArmRecord, 'inspected' | 'components' | 'componentNames'> & Partial<InspectedPlaces>,
  shown: readonly Query[],
): RankedTurn[][] {
  const rowOf = new Map(all.map(({ id }, row) => [id, row]));
  const { inspected, components, componentNames } = record;
  const { contributions, coordinates, contributionNames = [], coordinateNames = [] } = record;
  const pick = (values: Float32Array | undefined, pair: number, width: number) =>
    values === undefined || width === 0 ? [] : [...values.subarray(pair * width, (pair + 1) * width)];
  const explain = (row: number, turnId: string, parts: readonly number[]) => {
    const named = Object.fromEntries(componentNames.map((name, i) => [name, parts[i] as number]));
    const { memoryType = null } = (corpus.getTurn(turnId).attributes ?? {}) as Record<string, never>;
    return explainRankedTurn(record, row, named, memoryType);
  };
  return shown.map(({ id }) => {
    const row = rowOf.get(id) as number;
    return readRanking(corpus, record, row)
      .slice(0, inspected)
      .map((turn, rankIndex) => {
        const pair = row * inspected + rankIndex;
        const parts = pick(components, pair, componentNames.length);
        const reason = explain(row, turn.id, parts);
        return {
          ...turn,
          ...(reason && { reason: reason.sentence }),
          components: parts,
          contributions: pick(contributions, pair, contributionNames.length),
          coordinates: pick(coordinates, pair, 2 * coordinateNames.length),
        };
      });
  });
}
