import { ValidationError } from '../../core/errors/errors.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import { groupIntoClusters } from '../../eval/intervals/clusters.ts';
import { parseMean } from '../../eval/metrics/metric.ts';
import { type AllPairs, compareAllPairs } from '../../eval/significance/all-pairs.ts';
import type { TestName } from '../../eval/significance/test-names.ts';
import type { NumberedLook } from '../measure/numbered-look.ts';
import { countSeeds } from '../measure/seed-count.ts';
import { type PerQueryValues, readPerQuery } from './per-query-values.ts';
import { compareMetrics, isSameDefinition, pairValues } from './run-comparison.ts';
import { type RunSummary, readRunSummary } from './run-summary.ts';

/** What is compared. */
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
  /** The largest number of seeds of an arm. With several, a value of a query is its mean over them, and no p has the variance between seeds. */
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
 * Compares every pair of arms in each metric by a paired test, clustered by conversation and corrected by Holm over all pairs of the metric.
 *
 * @param folders of one finished run, or of two on the same data and queries.
 * @throws StorageError or ValidationError for a folder that is not one of a finished run, an unknown arm or metric, and runs that make no pairs.
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
      options,
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
