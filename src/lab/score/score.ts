import { stateShown } from '../../core/display/showable-text.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import { parseMean } from '../../eval/metrics/metric.ts';
import type { CorrectionName, TestName } from '../../eval/significance/test-names.ts';
import type { Qrels, Run } from '../../model/run.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { type Measurement, measureRuns } from '../measure/measurement.ts';
import { buildRankedArms, buildRankedResult } from '../measure/ranked-result.ts';
import type {
  ArmResult,
  DatasetSummary,
  Environment,
  ExperimentResult,
  ProtocolWarning,
  QueryRecord,
  TurnRecord,
} from '../measure/result.ts';
import { divideByKind } from '../measure/strata.ts';
import type { MeasuredRankings } from '../run/run-folder.ts';
import { findProtocolWarnings } from './protocol-warnings.ts';
import type { System } from './system.ts';

/** How rankings are measured. */
export interface ScoreOptions {
  /** The name of the result and the beginning of its folder's. */
  readonly name: string;
  readonly metrics: readonly string[];
  /** The least grade that counts as relevant. */
  readonly relevantGrade: number;
  /** The name of a system. */
  readonly baseline: string;
  readonly test: TestName;
  readonly correction: CorrectionName;
  readonly samples: number;
  /** Confidence of the intervals. */
  readonly level: number;
  readonly seed: number;
  /** Ascending numbers of tokens at which the evidence of each system is measured: with a dataset alone, by turn. */
  readonly tokenBudgets?: readonly number[];
}

/** What is measured. */
export interface ScoredFiles {
  readonly systems: readonly System[];
  readonly qrels: Qrels;
  /** The conversation of each query; null if every query is independent of the others. */
  readonly clusters: ReadonlyMap<string, string> | null;
  /** The stratum of each query that has one; absent if none has. */
  readonly strata?: ReadonlyMap<string, string>;
  /** The ids of the collection; null if they are unknown. */
  readonly documents: ReadonlySet<string> | null;
}

export function assertSystems(systems: readonly System[], baseline: string): void {
  const names = systems.map(({ name }) => name);
  if (names.length === 0) throw new ValidationError('no run to score; name at least 1 run file');
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (twice !== undefined)
    throw new ValidationError(`two systems have one name: ${twice}; name one of them otherwise`, { name: twice });
  if (names.includes(baseline)) return;
  throw new ValidationError(
    `no system has the name of the baseline: ${baseline}; use ${suggestKnown(baseline, names)}`,
    {
      baseline,
    },
  );
}

/**
 * The metrics of a table by their own names.
 *
 * @throws ValidationError for an unknown metric, one that is no mean, and one that is listed twice.
 */
export function resolveMetrics(written: readonly string[]): readonly string[] {
  if (written.length === 0) throw new ValidationError('no metric to score by; name at least 1, such as ndcg@10');
  const metrics = written.map((id) => parseMean(id).id);
  const twice = metrics.find((id, i) => metrics.indexOf(id) < i);
  if (twice !== undefined) throw new ValidationError(`metric is listed twice: ${twice}; list it once`, { id: twice });
  return metrics;
}

function findCluster(clusters: ReadonlyMap<string, string> | null, id: string): string {
  if (clusters === null) return id;
  const cluster = clusters.get(id);
  if (cluster === undefined)
    throw new ValidationError(`clusters have no query: ${id}; give the conversation of every judged query`, { id });
  return cluster;
}

/** A query of which only its id, its cluster and its judgements are known. */
function buildQuery({ clusters, strata, qrels }: ScoredFiles, id: string): QueryRecord {
  return {
    id,
    text: stateShown(id),
    timestamp: 0,
    author: null,
    channel: null,
    cluster: findCluster(clusters, id),
    kind: strata?.get(id) ?? null,
    turnId: null,
    judgements: Object.fromEntries(qrels.get(id) ?? []),
  };
}

function describeSystem({ name, source, tags, hash }: System): Readonly<Record<string, unknown>> {
  return { name, description: source, run: { file: source, tags, hash } };
}

/** The config of a score, as the folder of a run has one: enough to rescore and to compare it. */
function describeConfig(systems: readonly System[], options: ScoreOptions): Readonly<Record<string, unknown>> {
  const { name, metrics, baseline, test, correction, samples, level, seed, tokenBudgets } = options;
  const depth = systems.reduce(
    (most, { run }) => Array.from(run.values()).reduce((deepest, ranking) => Math.max(deepest, ranking.length), most),
    1,
  );
  return {
    name,
    description: DESCRIPTION,
    seed,
    evaluation: { metrics, baseline, depth, test, correction, samples, level, ...(tokenBudgets && { tokenBudgets }) },
    arms: systems.map(describeSystem),
  };
}

function hashQrels(qrels: Qrels): string {
  return computeHash(Array.from(qrels, ([id, judgements]) => [id, [...judgements]]));
}

function describeData(
  { qrels, documents }: ScoredFiles,
  dataHash: string,
  relevantGrade: number,
): Omit<DatasetSummary, 'turns'> {
  const judgements = Array.from(qrels.values()).reduce((sum, grades) => sum + grades.size, 0);
  return {
    name: 'judgements',
    task: 'rankings read from files are measured against judgements read from a file',
    features: [],
    licence: 'that of the files',
    relevantGrade,
    gradeNames: {},
    hash: dataHash,
    split: 'all',
    facts: { queries: qrels.size, judgements, ...(documents === null ? {} : { documents: documents.size }) },
  };
}

/** Places of each ranking that the inspector shows. */
const INSPECTED = 10;

/** The top of each ranking, of the documents that the page can show. */
export function listTopPlaces(
  queries: readonly { readonly id: string }[],
  { run }: System,
  canShow: (id: string) => boolean = () => true,
): ArmResult['rankings'] {
  return queries.map(({ id }) =>
    (run.get(id) ?? [])
      .filter((scored) => canShow(scored.id))
      .slice(0, INSPECTED)
      .map((scored) => ({ ...scored, components: [] })),
  );
}

/** Documents of which only the id is known: it is their text, and they are of no conversation (the empty id). */
function listNamedDocuments(rankings: readonly ArmResult['rankings'][]): TurnRecord[] {
  const ids = new Set(rankings.flat(2).map(({ id }) => id));
  const unknown = { conversationId: '', parentId: null, timestamp: 0, author: null, channel: null };
  return Array.from(ids, (id) => ({ id, text: stateShown(id), ...unknown }));
}

/**
 * Measures run files against judgements, without a dataset: the same intervals, tests and corrections as a run of an experiment, and a warning for each error
 * of protocol. Depends on the files and the options alone.
 *
 * @throws ValidationError for an unknown metric or baseline, a judged query without a cluster, and fewer than two queries with a relevant document.
 */
export function scoreFiles(
  files: ScoredFiles,
  written: ScoreOptions,
  environment: Environment,
  progress: StartProgress = ignoreProgress,
): MeasuredRankings {
  const { systems, qrels } = files;
  const options = { ...written, metrics: resolveMetrics(written.metrics) };
  const { metrics, relevantGrade, baseline } = options;
  assertSystems(systems, baseline);
  const queries = [...qrels.keys()].map((id) => buildQuery(files, id));
  const dataHash = hashQrels(qrels);
  const judging = {
    qrels,
    relevantGrade,
    dataHash,
    granularity: 'turn' as const,
    judgedOnly: false,
    unanswerableAre: 'apart' as const,
  };
  const runs = indexRuns(systems);
  const measurement = measureRuns(runs, judging, queries, options, divideByKind, progress);
  const rankings = (system: System) => listTopPlaces(measurement.queries, system);
  const turns = listNamedDocuments(systems.map(rankings));
  const result = assembleScore(
    {
      systems,
      measurement,
      data: { ...describeData(files, dataHash, relevantGrade), turns },
      queries: measurement.queries,
      unanswerable: measurement.unanswerable,
      warnings: findProtocolWarnings({ ...files, metrics, relevantGrade }),
      rankings,
    },
    options,
    environment,
  );
  return { result, runs: keepJudged(runs, qrels), qrels, corpus: new Corpus([]) };
}

/** What a result of scored rankings is put together from. */
interface ScoreParts {
  readonly systems: readonly System[];
  readonly measurement: Measurement<unknown>;
  readonly data: DatasetSummary;
  readonly queries: readonly QueryRecord[];
  readonly unanswerable: readonly QueryRecord[];
  readonly warnings: readonly ProtocolWarning[];
  readonly rankings?: (system: System) => ArmResult['rankings'];
}

const DESCRIPTION = 'Rankings of other systems, scored from their files.';

/** Puts a result together: the hash is that of the options, the judgements and the lines of each file. */
export function assembleScore(
  { systems, measurement, data, queries, unanswerable, warnings, rankings }: ScoreParts,
  options: ScoreOptions,
  environment: Environment,
): ExperimentResult {
  const arms = systems.map((system) => ({
    ...{ name: system.name, description: system.source, options: describeSystem(system) },
    ...(rankings && { rankings: rankings(system) }),
  }));
  const scored = [options, data.hash, data.split, systems.map((system) => [system.name, system.hash])];
  const facts = {
    ...{ name: options.name, hash: computeHash(scored).slice(0, 12), description: DESCRIPTION, environment },
    ...{ config: describeConfig(systems, options), dataset: data, queries, unanswerable, warnings },
    arms: buildRankedArms(arms, measurement),
  };
  return buildRankedResult(facts, measurement, options);
}

/** The runs by the names of their systems. */
export function indexRuns(systems: readonly System[]): ReadonlyMap<string, Run> {
  return new Map(systems.map(({ name, run }) => [name, run]));
}

/** The runs on judged queries: the files of a folder hold what was measured. */
export function keepJudged(runs: ReadonlyMap<string, Run>, qrels: Qrels): ReadonlyMap<string, Run> {
  return new Map(Array.from(runs, ([name, run]) => [name, new Map(Array.from(run).filter(([id]) => qrels.has(id)))]));
}
