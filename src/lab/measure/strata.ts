import { getOrCompute } from '../../core/values/once.ts';
import {
  type ClusteredMean,
  type Clusters,
  clusteredTInterval,
  clusteredTTest,
  estimateClusteredMean,
  groupIntoClusters,
  LEAST_CLUSTERS,
} from '../../eval/intervals/mean-intervals.ts';
import { readDirection } from '../../eval/metrics/metric.ts';
import { CORRECTIONS, type CorrectionName, confirmByFlips } from '../../eval/significance/multiple-comparisons.ts';
import { computePairedDifferences } from '../../eval/significance/paired-differences.ts';
import {
  type BaselineComparison,
  type ComparisonOptions,
  compareWithBaseline,
} from '../../eval/significance/significance.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { listSharedContentStems } from '../../model/text/tokens.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import type { Turn } from '../../model/turns/turn.ts';
import type { ArmControl } from '../config/arm-selection.ts';
import { QUERY_STRATA } from '../judging/query-file.ts';
import type { Stratum, StratumValue, Structure, StructureTest } from './result.ts';

/** An arm as its controls are compared with it; by metric. */
export interface StructuredArm {
  readonly name: string;
  /** Figures of a null control. */
  readonly control: ArmControl | null;
  readonly perQuery: Readonly<Record<string, readonly number[]>>;
  /** With the baseline; null for the baseline itself. */
  readonly comparisons: Readonly<Record<string, BaselineComparison>> | null;
}

function isBetter(arm: StructuredArm, metric: string): boolean {
  return arm.comparisons?.[metric]?.verdict === 'better';
}

function testStructure(
  arm: StructuredArm,
  controls: readonly StructuredArm[],
  metric: string,
  clusters: Clusters,
  options: ComparisonOptions,
): StructureTest {
  const readArmValues = (of: StructuredArm) => of.perQuery[metric] as readonly number[];
  const differences = controls.map((control) => computePairedDifferences(readArmValues(arm), readArmValues(control)));
  const nothing = new Float64Array(readArmValues(arm).length);
  const better = readDirection(metric);
  const compared = compareWithBaseline(differences, nothing, clusters, { ...options, better });
  const kinds = controls.map(({ control }) => (control as ArmControl).kind);
  const survives = kinds.filter((_, i) => {
    const [control, comparison] = [controls[i] as StructuredArm, compared[i] as BaselineComparison];
    return isBetter(arm, metric) && isBetter(control, metric) && comparison.verdict !== 'better';
  });
  return { survives, controls: Object.fromEntries(kinds.map((kind, i) => [kind, compared[i] as BaselineComparison])) };
}

/**
 * The part of an arm's gain due to the structure that its null controls destroy. The arm is compared with each control,
 * corrected over the controls. Its gain **survives** a control, so that it is not due to the structure that the control
 * destroys, if three things hold: the arm is better than the baseline, corrected over the arms; the control is better
 * than the baseline, corrected over all controls of the experiment; and the arm is not better than the control.
 *
 * @param arms its controls are among them.
 * @returns null for an arm without controls, as the controls themselves are.
 */
export function measureStructure(
  arm: StructuredArm,
  arms: readonly StructuredArm[],
  metrics: readonly string[],
  clusters: Clusters,
  options: ComparisonOptions,
): Structure | null {
  const controls = arms.filter(({ control }) => control?.of === arm.name);
  if (controls.length === 0) return null;
  const tests = metrics.map((metric) => [metric, testStructure(arm, controls, metric, clusters, options)] as const);
  const kinds = controls.map(({ control }) => (control as ArmControl).kind);
  const survives = kinds.filter((kind) => tests.some(([, test]) => test.survives.includes(kind)));
  return { survives, metrics: Object.fromEntries(tests) };
}

/** A level with fewer conversations is not tested. */
const LEAST_TESTED = 5;

interface StratumOptions {
  readonly metrics: readonly string[];
  /** Index of the baseline among the arms; -1 if it is not among them. */
  readonly baseline: number;
  readonly level: number;
  /** Over the levels of a stratum and the arms. */
  readonly correction: CorrectionName;
}

/** By metric, a value a query. */
type PerQuery = Readonly<Record<string, readonly number[]>>;

/** By stratum, level and metric. */
export type StratumValues = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, StratumValue>>>>>>;

interface Uncorrected {
  readonly mean: number;
  /** Null for the baseline, without a baseline, and with one or two conversations. */
  readonly difference: ClusteredMean | null;
  /** Null if the level has too few conversations for a test. */
  readonly p: number | null;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** One metric of each arm on some of the queries. */
function measureLevel(
  columns: readonly (readonly number[])[],
  queryIndexes: readonly number[],
  labels: readonly string[],
  baseline: number,
): Uncorrected[] {
  const clusters = groupIntoClusters(queryIndexes.map((queryIndex) => labels[queryIndex] as string));
  const held = columns.map((column) => queryIndexes.map((queryIndex) => column[queryIndex] as number));
  const base = held[baseline] as readonly number[];
  return held.map((values, arm) => {
    if (baseline < 0 || arm === baseline || clusters.sizes.length < LEAST_CLUSTERS)
      return { mean: mean(values), difference: null, p: null };
    const gains = computePairedDifferences(values, base);
    const difference = estimateClusteredMean(gains, clusters);
    const isTested = difference.groups >= LEAST_TESTED;
    return {
      mean: mean(values),
      difference,
      p: isTested ? confirmByFlips(clusteredTTest(difference), gains, clusters) : null,
    };
  });
}

/** Corrected p and intervals for [levels, arms] of one metric, corrected together. */
function correctStrata(
  table: readonly (readonly Uncorrected[])[],
  { level, correction }: StratumOptions,
): readonly (readonly StratumValue[])[] {
  const ps = table.flatMap((row) => row.map(({ p }) => p));
  const tested = ps.filter((p) => p !== null);
  const corrected = (tested.length > 0 ? CORRECTIONS[correction](tested) : []).values();
  const correctedPs = ps.map((p) => (p === null ? null : (corrected.next().value as number)));
  return table.map((row, l) =>
    row.map(({ mean, difference, p }, arm) => ({
      mean,
      difference: difference && clusteredTInterval(difference, level),
      p,
      correctedP: correctedPs[l * row.length + arm] as number | null,
    })),
  );
}

/**
 * Means of each arm within each level, and differences from the baseline with cluster-robust t intervals and tests. The
 * t test is used whatever test the table's is: a correction over all levels and arms multiplies p by hundreds, and a
 * test by resampling has no p below 1 / (samples + 1). Of a level with few conversations it is confirmed by the
 * sign-flip test, which tries every sign vector there.
 *
 * @param arms values of each arm.
 * @param labels [Q] the cluster of each query.
 * @returns values by stratum, level and metric, an arm each.
 */
export function computeStratumValues(
  strata: readonly Stratum[],
  arms: readonly PerQuery[],
  labels: readonly string[],
  options: StratumOptions,
): StratumValues[] {
  const values: Record<string, Record<string, Record<string, StratumValue>>>[] = arms.map(() => ({}));
  for (const { name, levels } of strata) {
    for (const held of values) held[name] = Object.fromEntries(levels.map((level) => [level.name, {}]));
    for (const metric of options.metrics) {
      const columns = arms.map((arm) => arm[metric] as readonly number[]);
      const uncorrected = levels.map(({ queries }) => measureLevel(columns, queries, labels, options.baseline));
      const table = correctStrata(uncorrected, options);
      for (const [l, level] of levels.entries())
        for (const [arm, held] of values.entries())
          (held[name]?.[level.name] as Record<string, StratumValue>)[metric] = table[l]?.[arm] as StratumValue;
    }
  }
  return values;
}

const HOUR_MILLISECONDS = 3_600_000;

/** A way to divide queries. */
interface Division {
  readonly name: string;
  readonly description: string;
  /** In order; without a list, those of the queries. */
  readonly levels: readonly string[] | null;
  /**
   * @param target the newest relevant turn.
   * @param relevant the number of relevant turns.
   */
  levelOf(query: Query, target: Turn, relevant: number): string;
}

/** Names of the levels and the least value of each, ascending. */
type Bins = readonly (readonly [name: string, least: number])[];

function findBin(bins: Bins, value: number): string {
  return (bins.findLast(([, least]) => value >= least) ?? (bins[0] as Bins[number]))[0];
}

const DEPTHS: Bins = [
  ['0', 0],
  ['1', 1],
  ['2', 2],
  ['3 to 5', 3],
  ['6 and deeper', 6],
];

const SIZES: Bins = [
  ['1', 1],
  ['2 to 5', 2],
  ['6 to 20', 6],
  ['21 to 100', 21],
  ['over 100', 101],
];

const AGES: Bins = [
  ['under an hour', 0],
  ['under a day', HOUR_MILLISECONDS],
  ['under a week', 24 * HOUR_MILLISECONDS],
  ['a week and older', 7 * 24 * HOUR_MILLISECONDS],
];

function binQueries(name: string, description: string, bins: Bins, measure: (query: Query, target: Turn) => number) {
  const levels = bins.map(([level]) => level);
  return { name, description, levels, levelOf: (query: Query, target: Turn) => findBin(bins, measure(query, target)) };
}

/** Counts the turns of a conversation before a moment; the times of each conversation are laid out once. */
function createTurnCounter({ corpus }: Dataset): (conversationId: string, moment: number) => number {
  const times = new Map<string, Float64Array>();
  return (id, moment) => {
    const timesOf = () => Float64Array.from(corpus.getConversation(id).turns, ({ timestamp }) => timestamp);
    return findLowerBound(getOrCompute(times, id, timesOf), moment);
  };
}

const KIND = { name: 'kind', description: 'what sort of query it is, as the dataset says' };

const NO_KIND = 'not said';

/** The strata of judged queries, as `ragpp judge check-queries` defines them, with the relevant turns as sources. */
const EVIDENCE: Division = {
  name: 'evidence',
  description:
    'whether a query shares a content word with its relevant turn (exact) or none (paraphrase), or has several relevant turns (multi-hop)',
  levels: QUERY_STRATA,
  levelOf: ({ text }, target, relevant): (typeof QUERY_STRATA)[number] => {
    if (relevant > 1) return 'multi-hop';
    return listSharedContentStems(text, target.text).length > 0 ? 'exact' : 'paraphrase';
  },
};

function listDivisions(dataset: Dataset): readonly Division[] {
  const { corpus } = dataset;
  const sizeBefore = createTurnCounter(dataset);
  const findTargetConversation = ({ turnId, anchorTurnId }: Query, target: Turn) =>
    corpus.getTurn(turnId ?? anchorTurnId ?? target.id).conversationId;
  const readTurnDepth = (id: string) => corpus.getConversation(corpus.getTurn(id).conversationId).getDepth(id);
  return [
    { ...KIND, levels: null, levelOf: ({ kind }) => kind ?? NO_KIND },
    EVIDENCE,
    binQueries(
      'depth',
      'edges from the root to the turn that the query is, or to its newest relevant turn where it is none',
      DEPTHS,
      ({ turnId }, target) => readTurnDepth(turnId ?? target.id),
    ),
    binQueries(
      'thread size',
      'turns that the conversation (of the query, or of its newest relevant turn) held before the query',
      SIZES,
      (query, target) => sizeBefore(findTargetConversation(query, target), query.timestamp),
    ),
    binQueries(
      'age of the target',
      'time from the newest relevant turn to the query',
      AGES,
      ({ timestamp }, target) => timestamp - target.timestamp,
    ),
  ];
}

/** The newest relevant turn of a query that has one, and the number of its relevant turns. */
function findNewestRelevant({ corpus, qrels, relevantGrade }: Dataset, { id }: Query) {
  const relevant = [...(qrels.get(id) ?? [])].filter(([, grade]) => grade >= relevantGrade);
  const newest = Math.max(...relevant.map(([turnId]) => corpus.getPosition(turnId)));
  return { target: corpus.turns[newest] as Turn, count: relevant.length };
}

/**
 * @param levels in order; null for those of the queries, by name.
 * @returns one division, or none with queries in fewer than two levels.
 */
function divideByLevels(
  division: Pick<Stratum, 'name' | 'description'>,
  levels: readonly string[] | null,
  levelsOfQueries: readonly string[],
): Stratum[] {
  const queryIndexes = new Map<string, number[]>((levels ?? []).map((level) => [level, []]));
  for (const [queryIndex, level] of levelsOfQueries.entries())
    queryIndexes.set(level, [...(queryIndexes.get(level) ?? []), queryIndex]);
  const filled = [...queryIndexes].filter(([, held]) => held.length > 0);
  if (levels === null) filled.sort(([a], [b]) => (a < b ? -1 : 1));
  if (filled.length < 2) return [];
  return [{ ...division, levels: filled.map(([level, held]) => ({ name: level, queries: held })) }];
}

/**
 * Divides queries by their kind, their evidence, depth, the size of their thread and the age of what they look for, all
 * as of the query's moment. What decides the level is never shown to a scorer. Of a dataset without turns, only the
 * kind is known.
 *
 * @param queries all with a relevant turn.
 * @returns the divisions that have queries in at least two levels, without the empty levels; queries by their place.
 */
export function divideIntoStrata(dataset: Dataset, queries: readonly Query[]): Stratum[] {
  const kinds = queries.map(({ kind }) => kind ?? NO_KIND);
  if (dataset.corpus.size === 0) return divideByLevels(KIND, null, kinds);
  const targets = queries.map((query) => findNewestRelevant(dataset, query));
  return listDivisions(dataset).flatMap(({ name, description, levels, levelOf }) => {
    const levelsOfQueries = queries.map((query, queryIndex) => {
      const { target, count } = targets[queryIndex]!;
      return levelOf(query, target, count);
    });
    return divideByLevels({ name, description }, levels, levelsOfQueries);
  });
}
