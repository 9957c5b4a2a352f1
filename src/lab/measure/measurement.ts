import { ValidationError } from '../../core/errors/errors.ts';
import {
  finishSteps,
  ignoreProgress,
  type Progress,
  type StartProgress,
  type Steps,
} from '../../core/terminal/progress.ts';
import { type Clusters, type Estimate, groupIntoClusters } from '../../eval/intervals/mean-intervals.ts';
import { type Evaluation, evaluate, findHighestGrade } from '../../eval/metrics/evaluate.ts';
import { parseMetric } from '../../eval/metrics/metric.ts';
import type { BaselineComparison, ComparisonOptions } from '../../eval/significance/significance.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Qrels, Run, Superseded } from '../../model/run.ts';
import type { ArmControl } from '../config/arm-selection.ts';
import { type EvidenceCurve, measureEvidenceCurve } from './evidence-curve.ts';
import { buildPassport, createTokenCounter, type MetricPassport, type PassportFacts } from './passport.ts';
import {
  compareArmsIn,
  describeSeeds,
  estimateArmsIn,
  indexByMetric,
  joinRepetitions,
  type RepeatedEvaluation,
} from './repeated-evaluations.ts';
import type { SeedSpread, Stratum, Structure } from './result.ts';
import {
  computeStratumValues,
  divideIntoStrata,
  measureStructure,
  type StratumValues,
  type StructuredArm,
} from './strata.ts';

/**
 * A computation over several arms: one value per arm, in their order.
 *
 * @param baseline its index among the members; -1 if it is not a member.
 */
type OfFamily<A, T> = (members: readonly A[], baseline: number) => readonly T[];

/**
 * Computes values of the arms and of the null controls separately, so that a correction covers the comparisons of one
 * family: controls make no arm less certain. The baseline is in both families, and its value is that of the first.
 */
export function computeByFamily<A, T>(
  arms: readonly A[],
  isControl: (armIndex: number) => boolean,
  baseline: number,
  compute: OfFamily<A, T>,
): T[] {
  const values = new Map<number, T>();
  for (const family of [false, true]) {
    const members = arms.flatMap((_, armIndex) =>
      armIndex === baseline || isControl(armIndex) === family ? [armIndex] : [],
    );
    const computed = compute(
      members.map((armIndex) => arms[armIndex] as A),
      members.indexOf(baseline),
    );
    for (const [i, armIndex] of members.entries()) if (!values.has(armIndex)) values.set(armIndex, computed[i] as T);
  }
  return arms.map((_, armIndex) => values.get(armIndex) as T);
}

/** The number of first documents among which the report counts the unjudged. */
const HOLE_DEPTH = 10;

/**
 * What is measured and how it is tested: the metrics, the baseline arm, the samples and confidence of the statistics,
 * and optionally null controls and other seeds.
 */
export interface MeasurementOptions extends ComparisonOptions {
  readonly metrics: readonly string[];
  readonly baseline: string;
  readonly samples: number;
  readonly level: number;
  /** The null controls by their names: a family of their own in every correction. */
  readonly controls?: ReadonlyMap<string, ArmControl>;
  /** Ascending numbers of tokens at which the evidence of each arm is measured; without them there is no curve. */
  readonly tokenBudgets?: readonly number[] | undefined;
  /** Rankings of the same arms with other seeds, by the name of the arm and the number of the repetition, from 1. */
  readonly repetitions?: ReadonlyMap<string, ReadonlyMap<number, Run>>;
}

/** One arm in every metric. */
export interface ArmMeasurement {
  /** By metric: [Q] a value for each query. */
  readonly perQuery: Readonly<Record<string, readonly number[]>>;
  readonly metrics: Readonly<Record<string, Estimate>>;
  /** Null for the baseline, and if the baseline failed. */
  readonly comparisons: Readonly<Record<string, BaselineComparison>> | null;
  /** Unjudged turns among the first 10, summed over the queries. */
  readonly holes: number;
  readonly strata: StratumValues;
  readonly control: ArmControl | null;
  readonly structure: Structure | null;
  /** Only with `tokenBudgets`; of the first seed. */
  readonly evidence?: EvidenceCurve;
  /** Only of an arm that was run with several seeds. */
  readonly seeds?: SeedSpread;
}

/**
 * Rankings measured against judgements: the figures of each arm, the definition of each metric, and the strata of the
 * queries.
 */
export interface Measurement<Q = Query> {
  /** The queries that the figures are over, in order. */
  readonly queries: readonly Q[];
  /** Queries without a relevant turn: among the others, or in no figure. */
  readonly unanswerable: readonly Q[];
  /** In the order of the runs. */
  readonly arms: readonly ArmMeasurement[];
  readonly passports: Readonly<Record<string, MetricPassport>>;
  readonly strata: readonly Stratum[];
}

/** Judgements, and how they are read. */
export interface Judging extends PassportFacts {
  /** The number of tokens of a turn, for budgets. */
  readonly countTokens?: (turnId: string) => number;
  /** A judgement set for each query, in the order of the queries; an empty one without judgements. */
  readonly qrels: Qrels;
  /** Absent if they are unknown. */
  readonly superseded?: Superseded;
}

/** The parts of a query that intervals and tests need. */
interface Clustered {
  readonly id: string;
  readonly cluster: string;
}

/** The judgements of some queries, in their order, and their superseded turns if the dataset has them. */
export function selectJudgements(dataset: Dataset, queries: readonly Query[]): Pick<Judging, 'qrels' | 'superseded'> {
  const { superseded } = dataset;
  const select = <V>(table: ReadonlyMap<string, ReadonlyMap<string, V>>) =>
    new Map(queries.map(({ id }) => [id, table.get(id) ?? new Map<string, V>()]));
  const qrels = select(dataset.qrels);
  return superseded === undefined ? { qrels } : { qrels, superseded: select(superseded) };
}

/** The judgements of some queries, by turn. The tokens of a dataset without turns are unknown. */
export function collectJudging(dataset: Dataset, queries: readonly Query[]): Judging {
  const { relevantGrade, hash } = dataset;
  return {
    ...selectJudgements(dataset, queries),
    relevantGrade,
    dataHash: hash,
    granularity: 'turn',
    judgedOnly: false,
    unanswerableAre: 'apart',
    ...(dataset.corpus.size > 0 && { countTokens: createTokenCounter(dataset.corpus) }),
    findHighestGrade: () => findScaleEnd(dataset.qrels, dataset.gradeNames),
  };
}

/** The highest grade of a scale: of those that have a name, and of all judgements. */
export function findScaleEnd(qrels: Qrels, gradeNames: Readonly<Record<string, string>>): number {
  return Math.max(findHighestGrade(qrels), ...Object.keys(gradeNames).map(Number));
}

function evaluateRun(run: Run, judging: Judging, metrics: readonly string[]): Evaluation {
  const { findHighestGrade: findEnd, countTokens, superseded } = judging;
  const scaled = findEnd !== undefined && metrics.some((metric) => parseMetric(metric).readsScale);
  return evaluate(run, judging.qrels, metrics, {
    relevantGrade: judging.relevantGrade,
    unanswerable: judging.unanswerableAre === 'counted' ? 'count' : 'apart',
    holeDepth: HOLE_DEPTH,
    ...(countTokens === undefined ? {} : { countTokens }),
    ...(superseded === undefined ? {} : { superseded }),
    ...(scaled ? { highestGrade: findEnd() } : {}),
  });
}

/** One metric on the queries that have a relevant turn. @returns the queries, and their values. */
export function measureQueryValues(
  metric: string,
  run: Run,
  dataset: Dataset,
  queries: readonly Query[],
): { readonly queries: readonly Query[]; readonly values: readonly number[] } {
  const { values, queryIds } = evaluateRun(run, collectJudging(dataset, queries), [metric]);
  const answerable = new Set(queryIds);
  return { queries: queries.filter(({ id }) => answerable.has(id)), values: values[metric] as readonly number[] };
}

/** The mean of one metric over the queries that have a relevant turn. @throws ValidationError when there is none. */
export function computeMetricMean(metric: string, run: Run, dataset: Dataset, queries: readonly Query[]): number {
  const { values } = measureQueryValues(metric, run, dataset, queries);
  if (values.length === 0)
    throw new ValidationError(
      `none of ${queries.length} queries has a relevant turn in dataset ${dataset.name}; add judgements or queries`,
    );
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Starts showing the steps of {@link stepThroughRuns}: two for each arm, and two for each metric. */
export function startStatistics(progress: StartProgress, arms: number, { length }: readonly string[]): Progress {
  const shown = progress('statistics', 2 * (arms + length));
  return { update: (done) => shown.update(done), finish: () => shown.finish(`${arms} arms in ${length} metrics`) };
}

/** Takes all steps of a measurement at once, and shows them. */
function finishShown<Q>(
  steps: Steps<Measurement<Q>>,
  progress: StartProgress,
  { size }: ReadonlyMap<string, Run>,
  { metrics }: MeasurementOptions,
): Measurement<Q> {
  const shown = startStatistics(progress, size, metrics);
  const measurement = finishSteps(steps, (done) => shown.update(done));
  shown.finish();
  return measurement;
}

/** {@link measureRuns}, a step an arm or metric. */
function* stepThroughRuns<Q extends Clustered>(
  runs: ReadonlyMap<string, Run>,
  judging: Judging,
  queries: readonly Q[],
  options: MeasurementOptions,
  divide: (queries: readonly Q[]) => readonly Stratum[],
): Steps<Measurement<Q>> {
  const { metrics, level, correction = 'holm' } = options;
  const names = [...runs.keys()];
  const baseline = names.indexOf(options.baseline);
  const controls = names.map((name) => options.controls?.get(name) ?? null);
  const repeated: RepeatedEvaluation[] = [];
  for (const [name, run] of runs) {
    const first = evaluateRun(run, judging, metrics);
    const others = Array.from(
      options.repetitions?.get(name) ?? [],
      ([repetition, other]) => [repetition, other === run ? first : evaluateRun(other, judging, metrics)] as const,
    );
    repeated.push(joinRepetitions(first, new Map(others), metrics));
    yield;
  }
  const evaluations = repeated.map(({ mean }) => mean);
  const [kept, without] = divideAnswerable(queries, evaluations[0] as Evaluation);
  const labels = kept.map(({ cluster }) => cluster);
  const clusters = groupIntoClusters(labels);
  const computeInFamilies = <T>(compute: (members: readonly RepeatedEvaluation[], baseline: number) => readonly T[]) =>
    computeByFamily(repeated, (arm) => controls[arm] !== null, baseline, compute);
  const intervals: Estimate[][] = [];
  const comparisons: (BaselineComparison | null)[][] = [];
  for (const metric of metrics) {
    intervals.push(estimateArmsIn(metric, repeated, clusters, options));
    yield;
    comparisons.push(computeInFamilies((members, base) => compareArmsIn(metric, members, base, clusters, options)));
    yield;
  }
  const strata = divide(kept);
  const levels = computeInFamilies((members, base) => {
    const values = members.map(({ mean }) => mean.values);
    return computeStratumValues(strata, values, labels, { metrics, baseline: base, level, correction });
  });
  const compared = evaluations.map(({ values }, arm) => ({
    name: names[arm] as string,
    control: controls[arm] as ArmControl | null,
    perQuery: values,
    comparisons:
      baseline < 0 || arm === baseline
        ? null
        : indexByMetric(metrics, (m) => comparisons[m]?.[arm] as BaselineComparison),
  }));
  const structures = yield* stepThroughStructures(compared, clusters, options);
  const curves = measureCurves(runs, judging, clusters, options);
  const arms = compared.map(({ name: _, ...arm }, a) => ({
    ...arm,
    metrics: indexByMetric(metrics, (m) => intervals[m]?.[a] as Estimate),
    holes: (evaluations[a] as Evaluation).holes.reduce((sum, count) => sum + count, 0),
    strata: levels[a] as StratumValues,
    structure: structures[a] as Structure | null,
    ...(curves[a] && { evidence: curves[a] }),
    ...describeSeeds(repeated[a] as RepeatedEvaluation, metrics),
  }));
  const passports = Object.fromEntries(metrics.map((metric) => [metric, buildPassport(metric, evaluations, judging)]));
  return { queries: kept, unanswerable: without, arms, passports, strata };
}

/**
 * The evidence of each arm against tokens; none without budgets.
 *
 * @throws ValidationError if the tokens of the turns are unknown.
 */
function measureCurves(
  runs: ReadonlyMap<string, Run>,
  { qrels, relevantGrade, unanswerableAre, countTokens }: Judging,
  clusters: Clusters,
  { tokenBudgets, samples, level, seed }: MeasurementOptions,
): EvidenceCurve[] {
  if (tokenBudgets === undefined) return [];
  if (countTokens === undefined)
    throw new ValidationError(
      'token budgets need the tokens of each document; measure turns, or leave tokenBudgets out',
    );
  const unanswerable = unanswerableAre === 'counted' ? 'count' : 'apart';
  return Array.from(runs.values(), (run) =>
    measureEvidenceCurve(run, { qrels, relevantGrade, unanswerable, countTokens }, tokenBudgets, clusters, {
      samples,
      level,
      seed,
    }),
  );
}

/** The queries that the figures are over, and those without a relevant turn that are not among them. */
function divideAnswerable<Q extends Clustered>(
  queries: readonly Q[],
  { queryIds, unanswerable }: Evaluation,
): [Q[], Q[]] {
  const [kept, without] = [queryIds, unanswerable].map((ids) => {
    const wanted = new Set(ids);
    return queries.filter(({ id }) => wanted.has(id));
  }) as [Q[], Q[]];
  if (without.length === queries.length)
    throw new ValidationError(`none of ${queries.length} queries has a relevant turn; add judgements or queries`);
  if (kept.length < 2)
    throw new ValidationError(
      `${kept.length} of ${queries.length} queries have a relevant turn and a table needs at least 2; use a larger dataset or split`,
      { queries: queries.length },
    );
  return [kept, without];
}

function* stepThroughStructures(
  arms: readonly StructuredArm[],
  clusters: Clusters,
  options: MeasurementOptions,
): Steps<(Structure | null)[]> {
  const structures: (Structure | null)[] = [];
  for (const arm of arms) {
    structures.push(measureStructure(arm, arms, options.metrics, clusters, options));
    yield;
  }
  return structures;
}

/**
 * Measures arms against judgements: means with intervals, differences from the baseline with corrected tests, all
 * clustered; see docs/statistics.md.
 *
 * @param runs by arm name; without the baseline nothing is compared.
 * @param queries in the order of the judgements.
 * @param divide the strata of the queries that the figures are over.
 * @throws ValidationError when no query has a relevant turn, or a single one has.
 */
export function measureRuns<Q extends Clustered>(
  runs: ReadonlyMap<string, Run>,
  judging: Judging,
  queries: readonly Q[],
  options: MeasurementOptions,
  divide: (queries: readonly Q[]) => readonly Stratum[],
  progress: StartProgress = ignoreProgress,
): Measurement<Q> {
  return finishShown(stepThroughRuns(runs, judging, queries, options, divide), progress, runs, options);
}

/** {@link measureArms}, a step an arm or metric. */
export function stepThroughArms(
  runs: ReadonlyMap<string, Run>,
  dataset: Dataset,
  queries: readonly Query[],
  options: MeasurementOptions,
): Steps<Measurement> {
  return stepThroughRuns(runs, collectJudging(dataset, queries), queries, options, (kept) =>
    divideIntoStrata(dataset, kept),
  );
}

/** Measures the arms of a run against the judgements of its dataset, see {@link measureRuns}. */
export function measureArms(
  runs: ReadonlyMap<string, Run>,
  dataset: Dataset,
  queries: readonly Query[],
  options: MeasurementOptions,
  progress: StartProgress = ignoreProgress,
): Measurement {
  return finishShown(stepThroughArms(runs, dataset, queries, options), progress, runs, options);
}
