import { stateShown } from '../../core/display/display.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { parseMean } from '../../eval/metrics/metric.ts';
import type { CorrectionName, TestName } from '../../eval/significance/multiple-comparisons.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Qrels, Run, Superseded } from '../../model/run.ts';
import { Corpus, findLowerBound } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { buildRankedArms, buildRankedResult, describeMeasured, listInspectedTurns } from '../measure/attribution.ts';
import { collectJudging, type Judging, measureRuns } from '../measure/measurement.ts';
import { describeLook } from '../measure/passport.ts';
import { findProtocolWarnings } from '../measure/protocol-warnings.ts';
import type { ArmResult, Environment, ProtocolWarning, TurnRecord } from '../measure/result.ts';
import { divideIntoStrata } from '../measure/strata.ts';
import type { System } from '../measure/system.ts';
import { describeUnknownTurns, describeWarning, joinExamples } from '../measure/warning.ts';
import type { MeasuredRankings } from '../run/run-folder.ts';
import { collapseJudgements, collapseRanking } from './rescore.ts';

/** Options of measuring rankings. */
export interface ScoreOptions {
  /** The name of the result and the beginning of its folder's. */
  readonly name: string;
  readonly metrics: readonly string[];
  /** The name of a system. */
  readonly baseline: string;
  readonly test: TestName;
  readonly correction: CorrectionName;
  readonly samples: number;
  /** Confidence of the intervals. */
  readonly level: number;
  readonly seed: number;
  /** Ascending numbers of tokens at which the evidence of each system is measured: with texts alone, by turn. */
  readonly tokenBudgets?: readonly number[];
}

/** The data that rankings are measured against. */
export interface ScoredDataset {
  readonly dataset: Dataset;
  readonly split: 'dev' | 'test' | 'all';
  /** The unit of a hit: a relevant turn, or any turn of its session, which is its channel. */
  readonly granularity: 'turn' | 'session';
  /** The ids of the collection, of judgements alone; null or absent if they are unknown. */
  readonly documents?: ReadonlySet<string> | null;
}

/** Judgements as files hold them. */
export interface JudgementFiles {
  readonly qrels: Qrels;
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
  /** The conversation of each query; null if every query is independent of the others. */
  readonly clusters: ReadonlyMap<string, string> | null;
  /** The stratum of each query that has one. */
  readonly strata: ReadonlyMap<string, string>;
  /** The ids of the collection; null if they are unknown. */
  readonly documents: ReadonlySet<string> | null;
  /** The superseded documents; null if they are unknown. */
  readonly superseded: Superseded | null;
}

function findCluster(clusters: JudgementFiles['clusters'], id: string): string {
  if (clusters === null) return id;
  const cluster = clusters.get(id);
  if (cluster === undefined)
    throw new ValidationError(`clusters have no query: ${id}; give the conversation of every judged query`, { id });
  return cluster;
}

function hashJudgements(qrels: Qrels, superseded: Superseded | null): string {
  const listRows = (table: ReadonlyMap<string, ReadonlyMap<string, unknown>>) =>
    Array.from(table, ([id, row]) => [id, [...row]]);
  return computeHash(superseded === null ? listRows(qrels) : [listRows(qrels), listRows(superseded)]);
}

/**
 * A dataset of judgements alone: of a query and a document only the id is known, and no query is a test query whose
 * looks are counted.
 *
 * @throws ValidationError for a judged query without a cluster.
 */
export function buildJudgedDataset(files: JudgementFiles): ScoredDataset {
  const { qrels, relevantGrade, clusters, strata, documents, superseded } = files;
  const queries = Array.from(qrels.keys(), (id): Query => {
    const kind = strata.get(id);
    const unknown = { timestamp: 0, anchorTurnId: null, author: null, channel: null, split: 'dev' } as const;
    return { id, text: id, ...unknown, ...(kind !== undefined && { kind }), cluster: findCluster(clusters, id) };
  });
  const judgements = Array.from(qrels.values()).reduce((sum, grades) => sum + grades.size, 0);
  const dataset: Dataset = {
    name: 'judgements',
    declaration: {
      task: 'rankings read from files are measured against judgements read from a file',
      features: [],
      licence: 'that of the files',
    },
    corpus: new Corpus([]),
    ...{ queries, qrels, relevantGrade, gradeNames: {}, devConversations: new Set() },
    ...(superseded !== null && { superseded }),
    facts: { queries: qrels.size, judgements, ...(documents !== null && { documents: documents.size }) },
    hash: hashJudgements(qrels, superseded),
  };
  return { dataset, split: 'all', granularity: 'turn', documents };
}

function assertSystems(systems: readonly System[], baseline: string): void {
  const names = systems.map(({ name }) => name);
  if (names.length === 0) throw new ValidationError('no run to score; name at least 1 run file');
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw new ValidationError(`two systems have one name: ${twice}; name one of them otherwise`, { name: twice });
  if (names.includes(baseline)) return;
  throw new ValidationError(
    `no system has the name of the baseline: ${baseline}; use ${suggestKnown(baseline, names)}`,
    { baseline },
  );
}

/**
 * The metrics of a table by their own names.
 *
 * @throws ValidationError for an unknown metric, no mean, and one that is listed twice.
 */
function resolveMetrics(written: readonly string[]): readonly string[] {
  if (written.length === 0) throw new ValidationError('no metric to score by; name at least 1, such as ndcg@10');
  const metrics = written.map((id) => parseMean(id).id);
  const twice = metrics.find((id, i) => metrics.indexOf(id) < i);
  if (twice !== undefined) throw new ValidationError(`metric is listed twice: ${twice}; list it once`, { id: twice });
  return metrics;
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

/** Systems, judgements and documents in the unit of a hit. */
interface ScoredUnit {
  readonly systems: readonly System[];
  /** The ids of the collection; null if they are unknown. */
  readonly documents: ReadonlySet<string> | null;
  readonly judging: Judging;
}

function chooseUnit(scored: ScoredDataset, systems: readonly System[], queries: readonly Query[]): ScoredUnit {
  const { dataset, granularity, documents = new Set(dataset.corpus.turns.map(({ id }) => id)) } = scored;
  const byTurn = collectJudging(dataset, queries);
  if (granularity === 'turn') return { systems, documents, judging: byTurn };
  const { countTokens: _tokens, findHighestGrade: _scale, superseded: _superseded, ...judging } = byTurn;
  const sessions = indexSessions(dataset);
  const qrels: Qrels = new Map(Array.from(judging.qrels, ([id, grades]) => [id, collapseJudgements(grades, sessions)]));
  return {
    systems: systems.map((system) => collapseSystem(system, sessions)),
    documents: new Set(sessions.values()),
    judging: { ...judging, qrels, granularity },
  };
}

function warnOfLaterTurns(
  systems: readonly System[],
  { corpus }: Dataset,
  queries: readonly Query[],
): ProtocolWarning[] {
  if (corpus.size === 0) return [];
  const known = new Map(queries.map((query) => [query.id, query]));
  /** True if a query can see a turn: it is strictly earlier, and of the conversation that the query asks. */
  const isVisible = (queryId: string, turnId: string): boolean => {
    const query = known.get(queryId);
    if (query === undefined || !corpus.has(turnId)) return true; // a warning of its own
    const { timestamp, conversationId } = corpus.getTurn(turnId);
    return timestamp < query.timestamp && (query.conversationId ?? conversationId) === conversationId;
  };
  return systems.flatMap(({ name, run }) => {
    const found: string[] = [];
    for (const [queryId, ranking] of run)
      for (const { id } of ranking) if (!isVisible(queryId, id)) found.push(`${id} for ${queryId}`);
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

/**
 * The number of documents that half of the queries see at least. Turns of a corpus and of a conversation are in the
 * order of time.
 */
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

function findWarnings(
  typed: readonly System[],
  scored: ScoredDataset,
  { systems, documents, judging: { qrels } }: ScoredUnit,
  queries: readonly Query[],
  metrics: readonly string[],
): ProtocolWarning[] {
  const { dataset } = scored;
  const strata = new Map(queries.flatMap(({ id, kind }) => (kind === undefined ? [] : [[id, kind] as const])));
  const visible = dataset.corpus.size > 0 && { visibleDocuments: measureVisible(scored, queries) };
  const { relevantGrade } = dataset;
  return [
    ...findProtocolWarnings({ systems, qrels, metrics, relevantGrade, documents, strata, ...visible }),
    ...describeUnknownTurns(dataset),
    ...warnOfLaterTurns(typed, dataset, queries),
  ];
}

/** Ranks of each ranking that the inspector shows. */
const INSPECTED = 10;

/**
 * The top of each ranking, of the documents that the page can show: turns of the dataset, or ids if it has no turns.
 */
function listTopRanks({ run }: System, { corpus }: Dataset, queries: readonly Query[]): ArmResult['rankings'] {
  return queries.map(({ id }) =>
    (run.get(id) ?? [])
      .filter((scored) => corpus.size === 0 || corpus.has(scored.id))
      .slice(0, INSPECTED)
      .map((scored) => ({ ...scored, components: [] })),
  );
}

/**
 * The turns that the page shows. Documents of which only the id is known have the id as their text, and are of no
 * conversation (the empty id).
 */
function listShownTurns(dataset: Dataset, queries: readonly Query[], rankings: ArmResult['rankings']): TurnRecord[] {
  if (dataset.corpus.size > 0) return listInspectedTurns(dataset, queries, rankings);
  const unknown = { conversationId: '', parentId: null, timestamp: 0, author: null, channel: null };
  const ids = new Set(rankings.flat().map(({ id }) => id));
  return Array.from(ids, (id) => ({ id, text: stateShown(id), ...unknown }));
}

function describeSystem({ name, source, tags, hash }: System): Readonly<Record<string, unknown>> {
  return { name, description: source, run: { file: source, tags, hash } };
}

const DESCRIPTION = 'Rankings of other systems, scored from their files.';

/** The config of a score, as the folder of a run has one: enough to rescore and to compare it. */
function describeConfig(systems: readonly System[], options: ScoreOptions): Readonly<Record<string, unknown>> {
  const { name, metrics, baseline, test, correction, samples, level, seed, tokenBudgets } = options;
  let depth = 1;
  for (const { run } of systems) for (const { length } of run.values()) depth = Math.max(depth, length);
  const evaluation = { metrics, baseline, depth, test, correction, samples, level };
  return {
    ...{ name, description: DESCRIPTION, seed, evaluation: { ...evaluation, ...(tokenBudgets && { tokenBudgets }) } },
    arms: systems.map(describeSystem),
  };
}

/** The runs by the names of their systems. */
function indexRuns(systems: readonly System[]): ReadonlyMap<string, Run> {
  return new Map(systems.map(({ name, run }) => [name, run]));
}

/**
 * Measures run files against the judgements of a dataset, by turn or by session: the same intervals, tests and
 * corrections as a run of an experiment, and a warning for each error of protocol. A ranking is not cut: a turn that
 * the query cannot see counts as not relevant, and is in a warning. The hash is that of the options, the judgements and
 * the lines of each file.
 *
 * @throws ValidationError for an unknown metric or baseline, fewer than two queries with a relevant document, and
 *   sessions of turns without a channel.
 */
export function scoreSystems(
  typed: readonly System[],
  scored: ScoredDataset,
  written: ScoreOptions,
  environment: Environment,
  progress: StartProgress = ignoreProgress,
): MeasuredRankings {
  const { dataset, granularity } = scored;
  const options = { ...written, metrics: resolveMetrics(written.metrics), relevantGrade: dataset.relevantGrade };
  assertSystems(typed, options.baseline);
  const queries = dataset.queries.filter((query) => scored.split === 'all' || query.split === scored.split);
  const unit = chooseUnit(scored, typed, queries);
  const { systems, judging } = unit;
  const measured = indexRuns(systems);
  const divide = (kept: readonly Query[]) => divideIntoStrata(dataset, kept);
  const measurement = measureRuns(measured, judging, queries, options, divide, progress);
  const split = granularity === 'turn' ? scored.split : `${scored.split}, by session`;
  const arms = systems.map((system) => ({
    ...{ name: system.name, description: system.source, options: describeSystem(system) },
    ...(granularity === 'turn' && { rankings: listTopRanks(system, dataset, measurement.queries) }),
  }));
  const turns = listShownTurns(
    dataset,
    measurement.queries,
    arms.flatMap(({ rankings = [] }) => rankings),
  );
  const identity = [options, dataset.hash, split, systems.map(({ name, hash }) => [name, hash])];
  const facts = {
    ...{ name: options.name, hash: computeHash(identity).slice(0, 12), description: DESCRIPTION, environment },
    ...{ config: describeConfig(systems, options), ...describeMeasured(dataset, measurement, split, turns) },
    warnings: findWarnings(typed, scored, unit, queries, options.metrics),
    arms: buildRankedArms(arms, measurement),
  };
  const result = buildRankedResult(facts, measurement, options);
  const { qrels, superseded } = judging;
  const judged = Array.from(
    measured,
    ([name, run]) => [name, new Map([...run].filter(([id]) => qrels.has(id)))] as const,
  );
  const stated = superseded === undefined ? { qrels } : { qrels, superseded };
  const look = describeLook(dataset, queries, result);
  return { result, runs: new Map(judged), ...stated, corpus: dataset.corpus, look };
}
