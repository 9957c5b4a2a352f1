import { ValidationError } from '../../core/errors/errors.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Qrels, Run } from '../../model/run.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { describeLook } from '../looks/test-looks.ts';
import { buildQueryRecord, listInspectedTurns } from '../measure/inspection.ts';
import { type Measurement, measureArms, measureRuns, selectQrels } from '../measure/measurement.ts';
import type { DatasetSummary, Environment, ProtocolWarning } from '../measure/result.ts';
import { divideIntoStrata } from '../measure/strata.ts';
import { describeUnknownTurns, describeWarning, joinExamples } from '../measure/warning.ts';
import type { MeasuredRankings } from '../run/run-folder.ts';
import { collapseJudgements, collapseRanking } from '../stored/rescore.ts';
import { findProtocolWarnings } from './protocol-warnings.ts';
import {
  assembleScore,
  assertSystems,
  indexRuns,
  keepJudged,
  listTopPlaces,
  resolveMetrics,
  type ScoreOptions,
} from './score.ts';
import type { System } from './system.ts';

/** What rankings are measured against. */
export interface ScoredDataset {
  readonly dataset: Dataset;
  readonly split: 'dev' | 'test' | 'all';
  /** What a hit is: a relevant turn, or any turn of its session, which is its channel. */
  readonly granularity: 'turn' | 'session';
}

/** The session of each turn, and each session's own id, since a run may name sessions itself. */
function indexSessions({ corpus, name }: Dataset): ReadonlyMap<string, string> {
  const sessions = new Map<string, string>();
  for (const { id, channel } of corpus.turns) {
    if (channel === null)
      throw new ValidationError(`turn has no session in dataset ${name}: ${id}; score by turn`, { id });
    sessions.set(id, channel);
    sessions.set(channel, channel);
  }
  return sessions;
}

/** Rankings of sessions. An unknown document stays as it is, and is in a warning. */
function collapseSystem(system: System, sessions: ReadonlyMap<string, string>): System {
  const known = new Map(sessions);
  for (const ranking of system.run.values()) for (const { id } of ranking) if (!known.has(id)) known.set(id, id);
  const run: Run = new Map(Array.from(system.run, ([id, ranking]) => [id, collapseRanking(ranking, known)]));
  return { ...system, run };
}

/** Whether a query can see a turn: it is strictly earlier, and of the conversation that the query asks. */
function createVisibility({ corpus }: Dataset, queries: readonly Query[]) {
  const known = new Map(queries.map((query) => [query.id, query]));
  return (queryId: string, turnId: string): boolean => {
    const query = known.get(queryId);
    if (query === undefined || !corpus.has(turnId)) return true; // a warning of its own
    const { timestamp, conversationId } = corpus.getTurn(turnId);
    return timestamp < query.timestamp && (query.conversationId ?? conversationId) === conversationId;
  };
}

function warnOfLaterTurns(systems: readonly System[], dataset: Dataset, queries: readonly Query[]): ProtocolWarning[] {
  const isVisible = createVisibility(dataset, queries);
  return systems.flatMap(({ name, run }) => {
    const found = Array.from(run).flatMap(([queryId, ranking]) =>
      ranking.filter(({ id }) => !isVisible(queryId, id)).map(({ id }) => `${id} for ${queryId}`),
    );
    if (found.length === 0) return [];
    const text = `${found.length} turns are not earlier than their query, or not of its conversation (${joinExamples(found)}); remove them, since a memory cannot hold them`;
    return [describeWarning('later-documents', name, text)];
  });
}

/** Counts the turns or sessions of the first turns of a list, for every number of turns. */
function countUnits(turns: readonly Turn[], granularity: ScoredDataset['granularity']): readonly number[] {
  if (granularity === 'turn') return Array.from({ length: turns.length + 1 }, (_, earlier) => earlier);
  const seen = new Set<string | null>();
  return [0, ...turns.map(({ channel }) => seen.add(channel).size)];
}

/** The number of documents that half of the queries see at least. Turns of a corpus and of a conversation are in the order of time. */
function measureVisible({ dataset: { corpus }, granularity }: ScoredDataset, queries: readonly Query[]): number {
  const byConversation = new Map<string | undefined, { times: readonly number[]; units: readonly number[] }>();
  const counts = queries.map(({ timestamp, conversationId }) => {
    const { times, units } = getOrCompute(byConversation, conversationId, () => {
      const turns = conversationId === undefined ? corpus.turns : corpus.getConversation(conversationId).turns;
      return { times: turns.map((turn) => turn.timestamp), units: countUnits(turns, granularity) };
    });
    return units[findLowerBound(times, timestamp)] as number;
  });
  return counts.sort((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 0;
}

/** Queries, judgements and systems in the unit of a hit. */
function chooseUnit({ dataset, granularity }: ScoredDataset, systems: readonly System[], queries: readonly Query[]) {
  const qrels: Qrels = selectQrels(dataset, queries);
  if (granularity === 'turn') return { systems, qrels, documents: new Set(dataset.corpus.turns.map(({ id }) => id)) };
  const sessions = indexSessions(dataset);
  return {
    systems: systems.map((system) => collapseSystem(system, sessions)),
    qrels: new Map(Array.from(qrels, ([id, grades]) => [id, collapseJudgements(grades, sessions)])) as Qrels,
    documents: new Set(sessions.values()),
  };
}

function measure(
  { dataset, granularity }: ScoredDataset,
  { systems, qrels }: Pick<ReturnType<typeof chooseUnit>, 'systems' | 'qrels'>,
  queries: readonly Query[],
  options: ScoreOptions,
  progress: StartProgress,
): Measurement {
  const runs = indexRuns(systems);
  if (granularity === 'turn') return measureArms(runs, dataset, queries, options, progress);
  const judging = {
    qrels,
    relevantGrade: dataset.relevantGrade,
    dataHash: dataset.hash,
    granularity,
    judgedOnly: false,
    unanswerableAre: 'apart' as const,
  };
  return measureRuns(runs, judging, queries, options, (kept) => divideIntoStrata(dataset, kept), progress);
}

/**
 * Measures run files against the judgements of a dataset, by turn or by session: with its strata and conversations, and the inspector. The relevant grade is the
 * dataset's. A ranking is not cut: a turn that the query cannot see counts as not relevant, and is in a warning.
 *
 * @throws ValidationError as {@link scoreFiles} does, and for sessions of turns without a channel.
 */
export function scoreDataset(
  systems: readonly System[],
  scored: ScoredDataset,
  written: Omit<ScoreOptions, 'relevantGrade'>,
  environment: Environment,
  progress: StartProgress = ignoreProgress,
): MeasuredRankings {
  const { dataset, split, granularity } = scored;
  const metrics = resolveMetrics(written.metrics);
  const options = { ...written, metrics, relevantGrade: dataset.relevantGrade };
  assertSystems(systems, options.baseline);
  const queries = dataset.queries.filter((query) => split === 'all' || query.split === split);
  const unit = chooseUnit(scored, systems, queries);
  const measurement = measure(scored, unit, queries, options, progress);
  const rankings = (system: System) => listTopPlaces(measurement.queries, system, (id) => dataset.corpus.has(id));
  const shown = granularity === 'turn' ? systems.flatMap(rankings) : [];
  const { name, declaration, relevantGrade, gradeNames, hash, facts, corpus } = dataset;
  const data: DatasetSummary = {
    ...{ name, ...declaration, relevantGrade, gradeNames, hash, facts },
    split: granularity === 'turn' ? split : `${split}, by session`,
    turns: listInspectedTurns(dataset, measurement.queries, shown),
  };
  const strata = new Map(queries.flatMap(({ id, kind }) => (kind === undefined ? [] : [[id, kind] as const])));
  const protocol = { ...options, ...unit, strata, visibleDocuments: measureVisible(scored, queries) };
  const result = assembleScore(
    {
      systems: unit.systems,
      measurement,
      data,
      queries: measurement.queries.map((query) => buildQueryRecord(dataset, query)),
      unanswerable: measurement.unanswerable.map((query) => buildQueryRecord(dataset, query)),
      warnings: [
        ...findProtocolWarnings(protocol),
        ...describeUnknownTurns(dataset),
        ...warnOfLaterTurns(systems, dataset, queries),
      ],
      ...(granularity === 'turn' ? { rankings } : {}),
    },
    options,
    environment,
  );
  const look = describeLook(dataset, queries, result);
  return { result, runs: keepJudged(indexRuns(unit.systems), unit.qrels), qrels: unit.qrels, corpus, look };
}
