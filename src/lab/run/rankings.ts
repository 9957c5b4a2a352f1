import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { TASK_WITHOUT_QUERIES } from '../../data/prepared/datasets.ts';
import { countRanksWithin } from '../../eval/metrics/judged-ranking.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import {
  type ArmRanking,
  decomposeScores,
  listInspectedPairs,
  type RankedPositions,
  readRanking,
} from '../../rank/retrieval/retriever.ts';
import { type RankOptions, readArm } from '../../rank/retrieval/written-steps.ts';
import { pairFrames } from '../../rank/signals/trajectory-score.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import { createTokenCounter } from '../measure/passport.ts';
import type { RankedTurn } from '../measure/result.ts';
import type { ArmRecord, InspectedRanks } from './arm-record.ts';
import { explainRankedTurn, listStrategyWeights } from './needed-data.ts';

/**
 * A share of the conversations, at least one; a smaller share of the same conversations is within a larger one.
 *
 * @param labels the conversation of each query.
 * @param share in (0, 1].
 */
export function drawConversations(labels: readonly string[], share: number, seed: number): ReadonlySet<string> {
  const shuffled = createRandom(seed, 'conversation-sample').shuffle([...new Set(labels)]);
  return new Set(shuffled.slice(0, Math.ceil(shuffled.length * share)));
}

/**
 * A limited number of queries comes from at least 20 conversations, if the data has 20: intervals over fewer are wide.
 */
const CONVERSATIONS = 20;

/**
 * Some of the queries, from conversations that are drawn by the seed. A conversation is taken whole, unless it has more
 * than a twentieth of the limit: then a twentieth of the limit is drawn from it. The last conversation is cut at the
 * limit. Where all conversations together give too few, further rounds take more.
 *
 * @param limit null for all queries.
 * @returns in the order of `queries`.
 */
export function sampleConversationQueries(
  queries: readonly Query[],
  limit: number | null,
  seed: number,
): readonly Query[] {
  if (limit === null || queries.length <= limit) return queries;
  const source = createRandom(seed, 'limited-queries');
  const byConversation = new Map<string, Query[]>(queries.map(({ cluster }) => [cluster, []]));
  for (const query of queries) byConversation.get(query.cluster)?.push(query);
  const drawn = source.shuffle([...byConversation.values()]).map((own) => source.shuffle(own));
  const share = Math.max(1, Math.floor(limit / CONVERSATIONS));
  const kept = new Set<Query>();
  for (let first = 0; kept.size < limit; first += share)
    for (const own of drawn)
      for (const query of own.slice(first, first + share)) if (kept.size < limit) kept.add(query);
  return queries.filter((query) => kept.has(query));
}

/**
 * The dev conversations in two parts, so that tuning resembles the evaluation: on conversations later than all fitted
 * ones.
 */
export interface DevSplit {
  /** Learned parts are fitted on these while arms are tuned. */
  readonly fit: ReadonlySet<string>;
  /** Queries of the other, later ones. */
  readonly tuning: readonly Query[];
}

/** The conversation of a query, if known, else its unit of resampling. */
export function findQueryConversation(
  { corpus }: Dataset,
  { conversationId, turnId, anchorTurnId, cluster }: Query,
): string {
  const known = turnId ?? anchorTurnId;
  if (conversationId !== undefined) return conversationId;
  return known === null ? cluster : corpus.getTurn(known).conversationId;
}

/**
 * Holds out the latest dev conversations for tuning. An encoder looks better than it is on the conversations that it
 * was fitted on, and a weight tuned there trusts it too much.
 *
 * @param holdout share of the dev conversations, in (0, 1).
 * @throws ValidationError when no dev query is left to tune on.
 */
export function splitDev(dataset: Dataset, holdout: number): DevSplit {
  const dev = dataset.corpus.conversations.filter(({ id }) => dataset.devConversations.has(id));
  const start = (turns: (typeof dev)[number]['turns']) => turns[0]?.timestamp as number;
  dev.sort((a, b) => start(a.turns) - start(b.turns));
  const fit = new Set(dev.slice(0, Math.round(dev.length * (1 - holdout))).map(({ id }) => id));
  const tuning = dataset.queries.filter(
    (query) => query.split === 'dev' && !fit.has(findQueryConversation(dataset, query)),
  );
  if (tuning.length === 0) {
    throw new ValidationError(
      `the last ${holdout} of ${dev.length} dev conversations of dataset ${dataset.name} have no query to tune on; raise tuning.holdout`,
      { holdout, dev: dev.length },
    );
  }
  return { fit, tuning };
}

/** A mean has an interval, and a difference a p, from two queries on. */
const LEAST = 2;

function chooseRemedy(split: Query['split'] | 'all', count: number, task: string): string {
  if (task === TASK_WITHOUT_QUERIES) return 'set the option queries of the dataset to another value than none';
  return split !== 'all' && count >= LEAST ? 'set evaluation.split: all, or add conversations' : 'add conversations';
}

/**
 * Refuses a split with too few queries before anything is computed for them.
 *
 * @throws ValidationError with the queries of each split, and what to do.
 */
export function assertSplitSize({ name, queries, declaration }: Dataset, split: Query['split'] | 'all'): void {
  const countSplitQueries = (wanted: Query['split']) => queries.filter((query) => query.split === wanted).length;
  const [dev, test] = [countSplitQueries('dev'), countSplitQueries('test')];
  const size = { dev, test, all: dev + test }[split];
  if (size >= LEAST) return;
  const count = (['no query', 'one query'] as const)[size];
  const where = split === 'all' ? 'dev and test together' : `split ${split}`;
  const other = split === 'dev' ? `test holds ${test}` : `dev holds ${dev}`;
  const remedy = chooseRemedy(split, dev + test, declaration.task);
  throw new ValidationError(
    `dataset ${name} has ${count} in ${where}, fewer than ${LEAST}${split === 'all' ? '' : ` (${other})`}; ${remedy}`,
    { dataset: name, split, dev, test },
  );
}

/** [Q] the number of first ranks whose turns have at most this number of tokens together. */
export function countFittingRanks(corpus: Corpus, { depth, positions }: RankedPositions, budget: number): Int32Array {
  const countTokens = createTokenCounter(corpus);
  return Int32Array.from({ length: positions.length / depth }, (_, query) => {
    const row = positions.subarray(query * depth, (query + 1) * depth).filter((position) => position >= 0);
    const tokens = Float64Array.from(row, (position) => countTokens((corpus.turns[position] as Turn).id));
    return countRanksWithin(tokens, budget);
  });
}

/** The parts of a report about the first ranks of each ranking besides their scores: {@link InspectedRanks}. */
export async function inspectRanks(
  workspace: Workspace,
  options: RankOptions,
  arm: ArmRanking,
  inspect: number,
): Promise<InspectedRanks> {
  const pairs = listInspectedPairs(arm, inspect);
  const { names, values } = await decomposeScores(workspace, readArm(options), arm.retrieved, pairs);
  const placed = await listRankCoordinates(workspace, options, arm, pairs);
  const weights = await listStrategyWeights(workspace, options);
  return { contributionNames: names, contributions: values, ...placed, ...weights };
}

/** Coordinates of the places and of the query in the frame of each; none of an arm without trajectory. */
async function listRankCoordinates(
  workspace: Workspace,
  options: RankOptions,
  { retrieved: { pool } }: ArmRanking,
  pairs: Int32Array,
): Promise<Pick<InspectedRanks, 'coordinateNames' | 'coordinates'>> {
  const { steps, control } = readArm(options);
  const trajectory = steps.find(({ coordinates }) => coordinates !== null)?.coordinates ?? null;
  if (trajectory === null) return { coordinateNames: [], coordinates: new Float32Array(0) };
  const { names, candidates, queries } = await workspace.under(control).get(pairFrames(trajectory, { control }), pool);
  const M = names.length;
  const coordinates = new Float32Array(pairs.length * 2 * M);
  for (const [n, pair] of pairs.entries()) {
    if (pair < 0) continue;
    coordinates.set(candidates.subarray(pair * M, (pair + 1) * M), n * 2 * M);
    coordinates.set(queries.subarray(pair * M, (pair + 1) * M), (n * 2 + 1) * M);
  }
  return { coordinateNames: names, coordinates };
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
  record: RankedPositions & Pick<ArmRecord, 'inspected' | 'components' | 'componentNames'> & Partial<InspectedRanks>,
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
