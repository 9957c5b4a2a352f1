import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import { groupIntoClusters } from '../../eval/intervals/mean-intervals.ts';
import { parseMean, readDirection } from '../../eval/metrics/metric.ts';
import { type AllPairs, compareAllPairs } from '../../eval/significance/all-pairs.ts';
import type { TestName } from '../../eval/significance/multiple-comparisons.ts';
import { type BaselineComparison, compareWithBaseline } from '../../eval/significance/significance.ts';
import { isPlain, type Plain } from '../composition/config-file.ts';
import { computeByFamily } from '../measure/measurement.ts';
import type { NumberedLook } from '../measure/result.ts';
import { countSeeds } from '../measure/warning.ts';
import { type PerQueryValues, readPerQuery } from './per-query-values.ts';
import { type RunSummary, readRunConfig, readRunSummary } from './run-summary.ts';

/** A value that two configs do not share; undefined if one lacks it. */
interface ConfigDifference {
  /** `arms[cosine].search.hnsw.k` */
  readonly path: string;
  readonly first: unknown;
  readonly second: unknown;
}

/** Leaves by path. Entries of a list are identified by name if they have one, else by index. */
function flattenLeaves(value: unknown, path: string): [string, unknown][] {
  const below = isPlain(value)
    ? Object.entries(value).map(([key, item]) => [path === '' ? key : `${path}.${key}`, item] as const)
    : Array.isArray(value)
      ? value.map(
          (item, at) => [`${path}[${isPlain(item) && typeof item.name === 'string' ? item.name : at}]`, item] as const,
        )
      : [];
  return below.length === 0 ? [[path, value]] : below.flatMap(([key, item]) => flattenLeaves(item, key));
}

/** Every leaf that differs, in the order of the first config, then those of the second alone. */
export function listConfigDifferences(first: Plain, second: Plain): ConfigDifference[] {
  const [before, after] = [new Map(flattenLeaves(first, '')), new Map(flattenLeaves(second, ''))];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(
      (path) =>
        computeHash([before.get(path)]) !== computeHash([after.get(path)]) || before.has(path) !== after.has(path),
    )
    .map((path) => ({ path, first: before.get(path), second: after.get(path) }));
}

/** A run of a comparison. */
export interface ComparedRun {
  readonly summary: RunSummary;
  readonly config: Plain;
}

/** An arm that both runs have. */
export interface ComparedArm {
  readonly name: string;
  /** By metric: both means, and the second run minus the first if they may be compared. */
  readonly metrics: Readonly<
    Record<string, { readonly first: number; readonly second: number; readonly comparison: BaselineComparison | null }>
  >;
}

/** Two stored runs side by side: the differences of their configs, and each common arm in each common metric, with a paired test where it is possible. */
export interface RunComparison {
  readonly first: ComparedRun;
  readonly second: ComparedRun;
  /** Of the configs, without arms of only one of them, and of the tuned values. */
  readonly differences: readonly ConfigDifference[];
  readonly onlyInFirst: readonly string[];
  readonly onlyInSecond: readonly string[];
  /** Metrics that both have. */
  readonly metrics: readonly string[];
  readonly arms: readonly ComparedArm[];
  /** Why nothing is tested, or why a metric is not; empty where everything is. */
  readonly obstacles: readonly string[];
  /** Conversations of the queries that are tested; null without a test. */
  readonly conversations: number | null;
  /** Resamples and confidence of the tests, those of the first run. */
  readonly statistics: RunSummary['statistics'];
  /** The largest number of seeds of a compared arm. With several, a value of a query is its mean over them, and no p has the variance between seeds. */
  readonly seeds: number;
}

/** The part of a passport that describes the metric; the rest describes the arms. */
const DEFINING = [
  'definition',
  'ties',
  'granularity',
  'cutoff',
  'relevantGrade',
  'judgedOnly',
  'unanswerableAre',
] as const;

/**
 * Two stored runs side by side: what differs in their configs, and for the arms and metrics that both have the paired, clustered comparison from
 * per-query.jsonl, corrected by Holm over the arms, and over the null controls separately. It requires the same data and queries, and for each metric the same definition.
 *
 * @throws StorageError or ValidationError for a folder that is not one of a finished run.
 */
export function compareRuns(
  firstFolder: string,
  secondFolder: string,
  progress: StartProgress = ignoreProgress,
): RunComparison {
  const [first, second] = [firstFolder, secondFolder].map((folder) => ({
    summary: readRunSummary(folder),
    config: readRunConfig(folder),
  })) as [ComparedRun, ComparedRun];
  const [before, after] = [listComparedArms(first), listComparedArms(second)];
  const shared = before.filter((name) => after.includes(name));
  const metrics = first.summary.metrics.filter((metric) => second.summary.metrics.includes(metric));
  const values = pairValues(first.summary, second.summary);
  const changed = metrics.filter((metric) => !isSameDefinition(metric, first.summary, second.summary));
  const tested = metrics.filter((metric) => !changed.includes(metric));
  const comparisons =
    typeof values === 'string' ? new Map() : compareShared(shared, tested, first.summary, values, progress);
  return {
    first,
    second,
    differences: listConfigDifferences(selectComparable(first, shared), selectComparable(second, shared)),
    onlyInFirst: before.filter((name) => !after.includes(name)),
    onlyInSecond: after.filter((name) => !before.includes(name)),
    metrics,
    arms: shared.map((name, at) => compareArm(name, at, metrics, first.summary, second.summary, comparisons)),
    obstacles: [
      ...(typeof values === 'string' ? [`nothing is tested: ${values}`] : []),
      ...changed.map((metric) => `${metric} is not compared: its definition differs`),
    ],
    conversations: typeof values === 'string' ? null : new Set(values[0].clusters).size,
    statistics: first.summary.statistics,
    seeds: countSeeds(
      [first, second].flatMap(({ summary }) => summary.arms.filter(({ name }) => shared.includes(name))),
    ),
  };
}

function listComparedArms({ summary }: ComparedRun): string[] {
  return summary.arms.map(({ name }) => name);
}

/** A config with the arms that both runs have, without their `differences`, which only repeat options, and with their tuned values. */
function selectComparable({ config, summary }: ComparedRun, shared: readonly string[]): Plain {
  const isShared = ({ name }: Plain) => shared.includes(name as string);
  const arms = Array.isArray(config.arms) ? config.arms.filter(isPlain).filter(isShared) : [];
  const tuned = summary.arms.filter(isShared).map(({ name, tuned: chosen }) => ({ name, ...chosen }));
  return { ...config, arms: arms.map(({ differences: _, ...arm }) => arm), tuned };
}

/** The values of both runs, query by query; or why they make no pairs. */
function pairValues(a: RunSummary, b: RunSummary): readonly [PerQueryValues, PerQueryValues] | string {
  const lacking = [a, b].find(({ folder }) => !existsSync(join(folder, 'per-query.jsonl')));
  if (lacking !== undefined) return `there is no per-query.jsonl in ${lacking.folder}`;
  if (a.dataset.hash !== b.dataset.hash)
    return `the data differ, ${a.dataset.hash.slice(0, 12)} and ${b.dataset.hash.slice(0, 12)}`;
  const [first, second] = [readPerQuery(a.folder), readPerQuery(b.folder)];
  const known = new Set(second.queries);
  const both = first.queries.filter((id) => known.has(id)).length;
  if (both !== first.queries.length || both !== second.queries.length)
    return `the queries differ, ${first.queries.length} and ${second.queries.length} with ${both} in both`;
  if (new Set(first.clusters).size < 2) return 'all queries are of one conversation';
  return [first, second];
}

function isSameDefinition(metric: string, a: RunSummary, b: RunSummary): boolean {
  const [first, second] = [a.passports[metric], b.passports[metric]];
  return first === undefined || second === undefined || DEFINING.every((key) => first[key] === second[key]);
}

/** Compares in each metric, and shows how many are done. */
function compareMetrics<T>(
  metrics: readonly string[],
  compare: (metric: string) => T,
  progress: StartProgress,
): (readonly [metric: string, compared: T])[] {
  const shown = progress('statistics', metrics.length);
  const compared = metrics.map((metric, done) => {
    const entry = [metric, compare(metric)] as const;
    shown.update(done + 1);
    return entry;
  });
  shown.finish(`${metrics.length} metrics`);
  return compared;
}

/** By metric, a comparison an arm. */
function compareShared(
  arms: readonly string[],
  metrics: readonly string[],
  { statistics, environment, arms: summaries }: RunSummary,
  [first, second]: readonly [PerQueryValues, PerQueryValues],
  progress: StartProgress,
): Map<string, BaselineComparison[]> {
  const clusters = groupIntoClusters(first.clusters);
  const indexInSecond = new Map(second.queries.map((id, queryIndex) => [id, queryIndex]));
  const computeArmGains = (arm: string, metric: string) => {
    const [before, after] = [first, second].map(({ values }) => values.get(arm)?.get(metric) as readonly number[]);
    return first.queries.map((id, q) => (after?.[indexInSecond.get(id) as number] as number) - (before?.[q] as number));
  };
  const nothing = new Float64Array(first.queries.length);
  const controls = new Set(summaries.flatMap(({ name, control }) => (control === null ? [] : [name])));
  const isControl = (queryIndex: number) => controls.has(arms[queryIndex] as string);
  const options = { ...statistics, seed: environment.seed };
  const compare = (metric: string) => (members: readonly string[]) => {
    const gains = members.map((arm) => computeArmGains(arm, metric));
    const better = readDirection(metric);
    return gains.length === 0 ? [] : compareWithBaseline(gains, nothing, clusters, { ...options, better });
  };
  return new Map(compareMetrics(metrics, (metric) => computeByFamily(arms, isControl, -1, compare(metric)), progress));
}

function compareArm(
  name: string,
  at: number,
  metrics: readonly string[],
  first: RunSummary,
  second: RunSummary,
  comparisons: ReadonlyMap<string, readonly BaselineComparison[]>,
): ComparedArm {
  const mean = (run: RunSummary, metric: string) =>
    run.arms.find((arm) => arm.name === name)?.metrics[metric]?.mean ?? Number.NaN;
  const figures = metrics.map((metric) => [
    metric,
    { first: mean(first, metric), second: mean(second, metric), comparison: comparisons.get(metric)?.[at] ?? null },
  ]);
  return { name, metrics: Object.fromEntries(figures) };
}

/** The metrics and arms of a comparison. */
export interface StoredPairsOptions {
  /** By any name that is accepted; null for all metrics of the run. */
  readonly metrics: readonly string[] | null;
  /** Names of arms; null for all but null controls. */
  readonly arms: readonly string[] | null;
  readonly test: TestName;
}

/** Every pair of arms of a stored run, or of two runs on the same queries. */
export interface StoredPairs {
  /** `experiment hash` of each run. */
  readonly runs: readonly string[];
  /** With two runs each name starts with `A: ` or `B: `. */
  readonly arms: readonly string[];
  readonly metrics: readonly string[];
  readonly pairs: Readonly<Record<string, AllPairs>>;
  readonly statistics: RunSummary['statistics'] & { readonly test: TestName; readonly correction: 'holm' };
  readonly queries: number;
  readonly conversations: number;
  /**
   * The largest number of seeds of an arm. With several, a value of a query is its mean over them, and no p has the
   * variance between seeds.
   */
  readonly seeds: number;
  /** The looks of the runs at a test split. */
  readonly looks: readonly NumberedLook[];
}

/** Values of the arms under the names that the display gives them. */
interface NamedValues {
  readonly name: string;
  readonly isControl: boolean;
  readonly seeds: { readonly count: number } | undefined;
  /** [Q] of a metric, in the order of the first run's queries. */
  read(metric: string): readonly number[];
}

function listNamedValues(
  { arms }: RunSummary,
  { queries, values }: PerQueryValues,
  order: readonly string[],
  prefix: string,
): NamedValues[] {
  const indexes = new Map(queries.map((id, queryIndex) => [id, queryIndex]));
  return arms.map(({ name, control, seeds }) => ({
    name: `${prefix}${name}`,
    seeds,
    isControl: control !== null,
    read: (metric) => {
      const column = values.get(name)?.get(metric) as readonly number[];
      return order.map((id) => column[indexes.get(id) as number] as number);
    },
  }));
}

function chooseArms(named: readonly NamedValues[], wanted: readonly string[] | null): NamedValues[] {
  if (wanted === null) return named.filter(({ isControl }) => !isControl);
  const known = named.map(({ name }) => name);
  for (const name of wanted)
    if (!known.includes(name))
      throw new ValidationError(`no run has the arm: ${name}; use ${suggestKnown(name, known)}`, { name, known });
  return named.filter(({ name }) => wanted.includes(name));
}

function chooseMetrics(runs: readonly RunSummary[], wanted: readonly string[] | null): string[] {
  const [first, second] = runs as [RunSummary, RunSummary | undefined];
  const known = first.metrics.filter((metric) => second === undefined || second.metrics.includes(metric));
  const ids = wanted?.map((id) => parseMean(id).id) ?? known;
  for (const id of ids) {
    if (!known.includes(id))
      throw new ValidationError(`run has no metric: ${id}; use ${suggestKnown(id, known)}, or ragpp rescore`, {
        id,
        known,
      });
    if (second !== undefined && !isSameDefinition(id, first, second))
      throw new ValidationError(`runs have different definitions of the metric: ${id}; rescore one of them`, { id });
  }
  if (ids.length === 0)
    throw new ValidationError(`runs share no metric: ${first.metrics.join(', ')}; use ragpp rescore`, { known });
  return [...ids];
}

function readValues(runs: readonly RunSummary[]): readonly PerQueryValues[] {
  const [first, second] = runs as [RunSummary, RunSummary | undefined];
  if (second === undefined) return [readPerQuery(first.folder)];
  const values = pairValues(first, second);
  if (typeof values === 'string')
    throw new ValidationError(`runs make no pairs: ${values}; name two runs on the same queries`);
  return values;
}

/**
 * Compares every pair of arms in each metric by a paired test, clustered by conversation and corrected by Holm over all
 * pairs of the metric.
 *
 * @param folders of one finished run, or of two on the same data and queries.
 * @throws StorageError or ValidationError for a folder that is not one of a finished run, an unknown arm or metric, and
 *   runs that make no pairs.
 */
export function compareStoredPairs(
  folders: readonly [string] | readonly [string, string],
  { metrics: wantedMetrics, arms: wantedArms, test }: StoredPairsOptions,
  progress: StartProgress = ignoreProgress,
): StoredPairs {
  const runs = folders.map(readRunSummary);
  const first = runs[0] as RunSummary;
  const metrics = chooseMetrics(runs, wantedMetrics);
  const values = readValues(runs);
  const { queries, clusters: labels } = values[0] as PerQueryValues;
  const named = runs.flatMap((run, r) => {
    const prefix = runs.length === 1 ? '' : r === 0 ? 'A: ' : 'B: ';
    return listNamedValues(run, values[r] as PerQueryValues, queries, prefix);
  });
  const arms = chooseArms(named, wantedArms);
  const clusters = groupIntoClusters(labels);
  const statistics = { ...first.statistics, test, correction: 'holm' as const };
  const options = { ...statistics, seed: first.environment.seed };
  const compare = (metric: string) =>
    compareAllPairs(
      arms.map((arm) => arm.read(metric)),
      clusters,
      { ...options, better: readDirection(metric) },
    );
  return {
    runs: runs.map(({ experiment, hash }) => `${experiment} ${hash}`),
    arms: arms.map(({ name }) => name),
    metrics,
    pairs: Object.fromEntries(compareMetrics(metrics, compare, progress)),
    statistics,
    queries: queries.length,
    conversations: clusters.sizes.length,
    seeds: countSeeds(arms),
    looks: runs.flatMap(({ look }) => (look === undefined ? [] : [look])),
  };
}
