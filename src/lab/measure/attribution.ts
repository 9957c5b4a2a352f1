import { type ShowableText, stateShown } from '../../core/display/display.ts';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { isListed } from '../../index/candidates/query-batch.ts';
import type { Candidates } from '../../model/candidates.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Qrels } from '../../model/run.ts';
import { showQuery, showTurn } from '../../model/turns/conversation.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { CandidatePool, Column } from '../../rank/signals/stage.ts';
import type { Measurement, MeasurementOptions } from './measurement.ts';
import type { ArmResult, DatasetSummary, ExperimentResult, QueryRecord, RankedTurn, TurnRecord } from './result.ts';

/** Characters of a text that a report shows. */
const SHOWN_CHARACTERS = 600;

function shortenTurnText(text: ShowableText): ShowableText {
  const characters = Array.from(text);
  return characters.length <= SHOWN_CHARACTERS
    ? text
    : stateShown(`${characters.slice(0, SHOWN_CHARACTERS - 1).join('')}…`);
}

function buildTurnRecord(turn: Turn): TurnRecord {
  const { id, conversationId, parentId, timestamp, author, channel } = turn;
  return { id, conversationId, parentId, timestamp, author, channel, text: shortenTurnText(showTurn(turn)) };
}

/**
 * The turns that an inspector needs: every ranked one, and the whole conversation of every judged one. In time order.
 */
export function listInspectedTurns(
  dataset: Dataset,
  queries: readonly Query[],
  rankings: Iterable<readonly RankedTurn[]>,
): TurnRecord[] {
  const { corpus } = dataset;
  const positions = new Set<number>();
  for (const ranking of rankings) for (const { id } of ranking) positions.add(corpus.getPosition(id));
  const conversations = new Set<string>();
  for (const { id } of queries)
    for (const turnId of dataset.qrels.get(id)?.keys() ?? []) conversations.add(corpus.getTurn(turnId).conversationId);
  for (const { id, turns } of corpus.conversations) {
    if (conversations.has(id)) for (const turn of turns) positions.add(corpus.getPosition(turn.id));
  }
  return [...positions].sort((a, b) => a - b).map((position) => buildTurnRecord(corpus.turns[position] as Turn));
}

export function buildQueryRecord(dataset: Dataset, query: Query): QueryRecord {
  const { id, timestamp, author, channel, cluster } = query;
  return {
    id,
    text: shortenTurnText(showQuery(query, dataset.corpus)),
    timestamp,
    author,
    channel,
    cluster,
    kind: query.kind ?? null,
    turnId: query.turnId ?? null,
    // On access: those of all queries together may exceed the memory.
    get judgements() {
      return Object.fromEntries(dataset.qrels.get(id) ?? []);
    },
  };
}

/** The parts of a result that say what was measured: the dataset, and the queries with and without a relevant turn. */
export function describeMeasured(
  dataset: Dataset,
  { queries, unanswerable }: Measurement,
  split: string,
  turns: DatasetSummary['turns'],
): Pick<ExperimentResult, 'dataset' | 'queries' | 'unanswerable'> {
  const { name, declaration, relevantGrade, gradeNames, hash, facts } = dataset;
  return {
    dataset: { name, ...declaration, relevantGrade, gradeNames, hash, split, facts, turns },
    queries: queries.map((query) => buildQueryRecord(dataset, query)),
    unanswerable: unanswerable.map((query) => buildQueryRecord(dataset, query)),
  };
}

/** The facts of an arm besides its figures. */
type RankedArm = Pick<ArmResult, 'name' | 'description'> &
  Partial<Pick<ArmResult, 'options' | 'rankings' | 'contributionNames' | 'steps'>>;

/** Arms of which only the rankings are known, with their figures, in the order of the measurement. */
export function buildRankedArms<Q>(arms: readonly RankedArm[], measurement: Measurement<Q>): ArmResult[] {
  const { queries } = measurement;
  return arms.map(({ options = {}, rankings = queries.map(() => []), ...arm }, a) => ({
    ...arm,
    options,
    levels: null,
    tuned: {},
    ...(measurement.arms[a] as Measurement['arms'][number]),
    componentNames: [],
    rankings,
    attribution: {},
    losses: queries.map(() => ({})),
    latency: null,
  }));
}

/** The facts of a result besides its figures. */
type ResultFacts = Pick<
  ExperimentResult,
  'name' | 'hash' | 'description' | 'environment' | 'config' | 'dataset' | 'queries' | 'unanswerable' | 'arms'
> &
  Partial<Omit<ExperimentResult, 'metrics' | 'statistics' | 'baseline' | 'passports' | 'strata'>>;

/**
 * A result: the facts, and the figures of a measurement. Without facts of them nothing failed, was swept, or was timed.
 */
export function buildRankedResult<Q>(
  facts: ResultFacts,
  { passports, strata }: Measurement<Q>,
  options: MeasurementOptions,
): ExperimentResult {
  const { metrics, baseline, test = 'permutation', correction = 'holm', samples, level } = options;
  return {
    ...{ failures: [], stopped: [], sweep: null, stages: {}, remarks: [], armsAtOnce: 1, timings: [] },
    ...facts,
    metrics,
    statistics: { test, correction, samples, level },
    baseline,
    passports,
    strata,
  };
}

/** Where a relevant turn can be lost on its way to the top, by the number that a record keeps. */
export const LOSS_STAGES = freezeDeeply([
  'kept',
  'slice',
  'candidates',
  'filter',
  'fusion',
  'rerank',
  'budget',
] as const);
/** The stage that lost a relevant turn, one of {@link LOSS_STAGES}; `kept` if no stage lost it. */
export type LossStage = (typeof LOSS_STAGES)[number];

const encodeLossStage = (stage: LossStage) => LOSS_STAGES.indexOf(stage);

/** The intermediate results of an arm for Q queries, by stage. */
export interface StageTrace {
  /** [Q] the turns of each query's slice, ascending; null: every earlier turn is admissible. */
  readonly admitted: readonly Int32Array[] | null;
  /** The candidates of each source. */
  readonly found: readonly Candidates[];
  readonly pool: Pick<CandidatePool, 'queryCount' | 'width' | 'positions'>;
  /** [Q, C] after fusion alone. */
  readonly relevance: Column;
  /** [Q, C] in the end. */
  readonly scores: Column;
  /** [Q] the number of first ranks that fit into a budget of tokens; null without a budget. */
  readonly fitting: Int32Array | null;
}

/** [Q] the corpus positions of each query's relevant turns, in the order of its judgements. @param queryIds of queries that may have no judgement. */
export function listRelevantPositions(
  corpus: Corpus,
  qrels: Qrels,
  relevantGrade: number,
  queryIds: readonly string[],
): Int32Array[] {
  return queryIds.map((id) =>
    Int32Array.from(
      [...(qrels.get(id) ?? [])].filter(([, grade]) => grade >= relevantGrade),
      ([turnId]) => corpus.getPosition(turnId),
    ),
  );
}

/**
 * The number of slots of a pool's row above one: higher scores, and equal ones before it, as the row is in the tie
 * rule's order.
 */
function countSlotsAbove(row: Column, slot: number, occupied: number): number {
  const own = row[slot] as number;
  let above = 0;
  for (let i = 0; i < occupied; i++) {
    const score = row[i] as number;
    if (score > own || (score === own && i < slot)) above++;
  }
  return above;
}

function isFound(sources: readonly Candidates[], query: number, position: number): boolean {
  return sources.some(({ positions, width }) =>
    positions.subarray(query * width, (query + 1) * width).includes(position),
  );
}

function findLossStage(trace: StageTrace, query: number, position: number, depth: number) {
  const { admitted, found, pool, relevance, scores, fitting } = trace;
  if (admitted !== null && !isListed(admitted[query] as Int32Array, position)) return 'slice';
  const [start, end] = [query * pool.width, (query + 1) * pool.width];
  const row = pool.positions.subarray(start, end);
  const slot = row.indexOf(position);
  if (slot < 0) return isFound(found, query, position) ? 'filter' : 'candidates';
  const padding = row.indexOf(-1);
  const occupied = padding < 0 ? row.length : padding;
  const countAbove = (column: Column) => countSlotsAbove(column.subarray(start, end), slot, occupied);
  const above = countAbove(scores);
  if (above < depth) return fitting === null || above < (fitting[query] as number) ? 'kept' : 'budget';
  return countAbove(relevance) < depth ? 'rerank' : 'fusion';
}

/**
 * Says for every relevant turn which stage lost it: `slice`, it is inadmissible; `candidates`, no source found it; `filter`, one did, but it was not admitted to the pool; `fusion`, it was
 * in the pool, but below the cut by relevance as by the final score; `rerank`, relevance alone would have kept it; `budget`, it is above the cut, but the turns
 * down to it do not fit into the tokens; `kept`, it is above the cut in the end, whatever relevance alone made of it. The cost is relevant turns x candidates.
 *
 * @param relevant [Q] positions each, see {@link listRelevantPositions}.
 * @param depth ranks above the cut.
 * @returns a number of {@link LOSS_STAGES} for each relevant turn, query after query.
 * @throws DimensionMismatchError where queries and pool differ.
 */
export function attribute(trace: StageTrace, relevant: readonly Int32Array[], depth: number): Uint8Array {
  if (relevant.length !== trace.pool.queryCount)
    throw new DimensionMismatchError('queries with relevant turns', trace.pool.queryCount, relevant.length);
  return Uint8Array.from(
    relevant.flatMap((positions, query) =>
      Array.from(positions, (position) => encodeLossStage(findLossStage(trace, query, position, depth))),
    ),
  );
}

/** [Q] the fate of each query's relevant turns, by turn id. @param codes of {@link attribute}. */
export function groupLosses(
  corpus: Corpus,
  relevant: readonly Int32Array[],
  codes: Uint8Array,
): Record<string, LossStage>[] {
  let next = 0;
  return relevant.map((positions) =>
    Object.fromEntries(
      Array.from(positions, (position) => [
        (corpus.turns[position] as Corpus['turns'][number]).id,
        LOSS_STAGES[codes[next++] as number] as LossStage,
      ]),
    ),
  );
}

/** Relevant turns by the stage that lost them, in the order of the stages; stages that lost none are omitted. */
export function countLosses(losses: readonly Readonly<Record<string, string>>[]): Record<string, number> {
  const stages = losses.flatMap((turns) => Object.values(turns));
  const counts = LOSS_STAGES.map((stage) => [stage, stages.filter((one) => one === stage).length] as const);
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}
