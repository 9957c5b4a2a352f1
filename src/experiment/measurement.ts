import { ValidationError } from '../core/errors.ts';
import { bootstrapIntervals, type Interval } from '../evaluation/bootstrap-interval.ts';
import { clusterBy } from '../evaluation/clusters.ts';
import { type Evaluation, evaluate } from '../evaluation/evaluate.ts';
import { type BaselineComparison, compareWithBaseline } from '../evaluation/significance.ts';
import type { Dataset, Query } from '../model/dataset.ts';
import type { Qrels, Run } from '../model/run.ts';

/** What the report counts as unjudged: documents among so many first ones. */
const HOLE_DEPTH = 10;

export interface MeasurementOptions {
  readonly metrics: readonly string[];
  readonly baseline: string;
  readonly samples: number;
  readonly level: number;
  readonly seed: number;
}

/** One arm in every metric. */
export interface ArmMeasurement {
  readonly perQuery: Readonly<Record<string, readonly number[]>>;
  readonly metrics: Readonly<Record<string, Interval>>;
  /** Null for the baseline. */
  readonly comparisons: Readonly<Record<string, BaselineComparison>> | null;
  readonly holes: number;
}

export interface Measurement {
  /** The queries that have a relevant turn, in order. */
  readonly queries: readonly Query[];
  /** The others, which no figure counts. */
  readonly unanswerable: readonly string[];
  /** In the order of the runs. */
  readonly arms: readonly ArmMeasurement[];
}

/** The judgements of some queries, in their order. */
export function qrelsOf(dataset: Dataset, queries: readonly Query[]): Qrels {
  return new Map(queries.map(({ id }) => [id, dataset.qrels.get(id) ?? new Map()]));
}

function evaluateRun(run: Run, dataset: Dataset, queries: readonly Query[], metrics: readonly string[]): Evaluation {
  return evaluate(run, qrelsOf(dataset, queries), metrics, {
    relevantGrade: dataset.relevantGrade,
    unanswerable: 'apart',
    holeDepth: HOLE_DEPTH,
  });
}

/** The mean of one metric over the queries that have a relevant turn. @throws ValidationError when there is none. */
export function meanOf(metric: string, run: Run, dataset: Dataset, queries: readonly Query[]): number {
  const values = evaluateRun(run, dataset, queries, [metric]).values[metric] as readonly number[];
  if (values.length === 0)
    throw new ValidationError(`no query of ${queries.length} has a relevant turn in dataset: ${dataset.name}`);
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Measures arms against judgements: means with bootstrap intervals, differences from the baseline with corrected permutation tests, both clustered.
 *
 * @param runs by arm name, the baseline among them.
 * @throws ValidationError when no query has a relevant turn, or all belong to one cluster.
 */
export function measureArms(
  runs: ReadonlyMap<string, Run>,
  dataset: Dataset,
  queries: readonly Query[],
  options: MeasurementOptions,
): Measurement {
  const { metrics, baseline, samples, level, seed } = options;
  const names = [...runs.keys()];
  const evaluations = [...runs.values()].map((run) => evaluateRun(run, dataset, queries, metrics));
  const [first] = evaluations as [Evaluation];
  const answerable = new Set(first.queryIds);
  const kept = queries.filter(({ id }) => answerable.has(id));
  if (kept.length === 0)
    throw new ValidationError(`no query of ${queries.length} has a relevant turn in dataset: ${dataset.name}`);
  const clusters = clusterBy(kept.map(({ cluster }) => cluster));
  const columns = evaluations.flatMap(({ values }) => metrics.map((metric) => values[metric] as readonly number[]));
  const intervals = bootstrapIntervals(columns, clusters, { samples, level, seed });
  const others = names.flatMap((name, arm) => (name === baseline ? [] : [arm]));
  const valuesOf = (arm: number, metric: string) =>
    (evaluations[arm] as Evaluation).values[metric] as readonly number[];
  const comparisons = metrics.map((metric) =>
    others.length === 0
      ? []
      : compareWithBaseline(
          others.map((arm) => valuesOf(arm, metric)),
          valuesOf(names.indexOf(baseline), metric),
          clusters,
          { samples, level, seed },
        ),
  );
  const arms = names.map((name, arm) => ({
    perQuery: (evaluations[arm] as Evaluation).values,
    metrics: Object.fromEntries(metrics.map((metric, m) => [metric, intervals[arm * metrics.length + m] as Interval])),
    comparisons:
      name === baseline
        ? null
        : Object.fromEntries(
            metrics.map((metric, m) => [metric, comparisons[m]?.[others.indexOf(arm)] as BaselineComparison]),
          ),
    holes: (evaluations[arm] as Evaluation).holes.reduce((sum, holes) => sum + holes, 0),
  }));
  return { queries: kept, unanswerable: first.unanswerable, arms };
}
