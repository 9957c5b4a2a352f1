import type { ShowableText } from '../../../core/display/display.ts';
import { tQuantile } from '../../../core/numbers/distributions.ts';
import { chooseIntervalMethod } from '../../../eval/intervals/mean-intervals.ts';
import { readDirection } from '../../../eval/metrics/metric.ts';
import { LOSS_STAGES } from '../../measure/attribution.ts';
import type { FitResult } from '../../measure/fit-result.ts';
import type { ArmResult, ExperimentResult, TurnRecord } from '../../measure/result.ts';
import { formatNumberName } from '../tables/fit-table.ts';
import { orderLadderArms } from '../tables/table.ts';
import { type ArmPayload, buildArmPayload, type Factor } from './arm-payload.ts';

/** A learned number; without bounds where nothing was resampled. */
export interface WeightPayload {
  readonly name: string;
  readonly handTuned: number;
  readonly value: number;
  readonly bounds: readonly [number, number] | null;
}

/**
 * The training of a fold: the mean loss of each epoch, null at the start, and the metric after it on rows that were not
 * trained on.
 */
export interface CurvePayload {
  readonly name: string;
  readonly loss: readonly (number | null)[];
  readonly validation: readonly number[];
}

export interface BinPayload {
  readonly low: number;
  readonly high: number;
  readonly count: number;
  /** Null for an empty bin. */
  readonly predicted: number | null;
  readonly observed: number | null;
}

export interface FamilyPayload {
  readonly name: string;
  /** By metric: the metric without the family minus with it, its bounds, the corrected p, and whether that decides. */
  readonly differences: readonly (readonly [number, number | null, number | null, number, boolean])[];
}

/** Data of the figures of a fit. */
export interface FitPayload {
  /** Greatest magnitude first. */
  readonly weights: readonly WeightPayload[];
  /** The last one is the training on all rows. */
  readonly curves: readonly CurvePayload[];
  readonly bins: readonly BinPayload[];
  readonly families: readonly FamilyPayload[];
}

function buildWeightPayloads({ numbers }: FitResult): WeightPayload[] {
  const parameters = new Set(numbers.map(({ parameter }) => parameter)).size;
  const weights = numbers.map((number) => ({
    name: formatNumberName(number, parameters),
    handTuned: number.handTuned,
    value: number.value,
    bounds: number.interval === null ? null : ([number.interval.low, number.interval.high] as const),
  }));
  return weights.sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}

function buildCurvePayloads({ folds, curve, validation }: FitResult): CurvePayload[] {
  const named = folds.map((fold, f) => ({ name: `fold ${f + 1}`, ...fold }));
  return [...named, { name: 'all conversations', curve, validation }].map(({ name, curve: points, validation }) => ({
    name,
    loss: points.map(({ loss }) => loss),
    validation,
  }));
}

function buildFamilyPayloads({ importance }: FitResult, metrics: readonly string[]): FamilyPayload[] {
  return importance.map(({ family, comparisons }) => ({
    name: family,
    differences: metrics.map((metric) => {
      const { difference, correctedP, verdict } = comparisons[metric] as (typeof comparisons)[string];
      return [difference.mean, difference.low, difference.high, correctedP, verdict !== 'undecided'];
    }),
  }));
}

/** Null where nothing was fitted. */
export function buildFitPayload({ fit, metrics }: ExperimentResult): FitPayload | null {
  if (fit === undefined) return null;
  return {
    weights: buildWeightPayloads(fit),
    curves: buildCurvePayloads(fit),
    bins: fit.calibration.bins,
    families: buildFamilyPayloads(fit, metrics),
  };
}

/** [T] each. Authors, channels and conversations are positions in `names`; -1 stands for nothing. */
interface TurnColumns {
  readonly names: readonly string[];
  readonly id: readonly string[];
  readonly conversation: readonly number[];
  readonly parent: readonly number[];
  readonly timestamp: readonly number[];
  readonly author: readonly number[];
  readonly channel: readonly number[];
  readonly text: readonly ShowableText[];
}

/**
 * The turns that the page shows: those that an inspected arm ranks, and every conversation of a judged turn or of a
 * query. In their order.
 */
export function selectShownTurns(
  { arms, queries, dataset }: ExperimentResult,
  inspected: ReadonlySet<string>,
): TurnRecord[] {
  const ids = new Set<string>();
  for (const { name, rankings } of arms)
    if (inspected.has(name)) for (const ranking of rankings) for (const { id } of ranking) ids.add(id);
  const related = new Set<string | null>();
  for (const { turnId, judgements } of queries) {
    related.add(turnId);
    for (const id of Object.keys(judgements)) related.add(id);
  }
  const conversations = new Set(
    dataset.turns.filter(({ id }) => related.has(id)).map(({ conversationId }) => conversationId),
  );
  conversations.delete(''); // of documents without one
  return dataset.turns.filter(({ id, conversationId }) => ids.has(id) || conversations.has(conversationId));
}

/** @param positions of the turns by id. */
export function packTurnColumns(turns: readonly TurnRecord[], positions: ReadonlyMap<string, number>): TurnColumns {
  const names = new Map<string, number>();
  const assignNameIndex = (name: string | null): number => {
    if (name === null) return -1;
    if (!names.has(name)) names.set(name, names.size);
    return names.get(name) as number;
  };
  const columns = {
    id: turns.map((turn) => turn.id),
    conversation: turns.map((turn) => assignNameIndex(turn.conversationId)),
    parent: turns.map(({ parentId }) => (parentId === null ? -1 : (positions.get(parentId) ?? -1))),
    timestamp: turns.map((turn) => turn.timestamp),
    author: turns.map((turn) => assignNameIndex(turn.author)),
    channel: turns.map((turn) => assignNameIndex(turn.channel)),
    text: turns.map((turn) => turn.text),
  };
  return { names: [...names.keys()], ...columns };
}

/** 1 if more of a metric is better, -1 if less is. */
const signOf = (metric: string) => (readDirection(metric) === 'higher' ? 1 : -1);

/** The maximum number of arms whose rankings are in the page; the figures of all arms are. */
export const INSPECTED_ARMS = 24;

/**
 * The arms whose rankings the page holds: the baseline, the best ones by the first metric (a third of the places, so
 * that there is room for what the config names first), then the first of the config, null controls after all others.
 * All of them if there are at most `limit`.
 *
 * @returns their names.
 */
export function selectInspectedArms(
  { arms, baseline, metrics }: ExperimentResult,
  limit = INSPECTED_ARMS,
): Set<string> {
  const mean = ({ metrics: means }: ArmResult) => means[metrics[0] ?? '']?.mean ?? Number.NEGATIVE_INFINITY;
  const controls = arms.filter(({ control }) => control !== null);
  const others = arms.filter(({ control }) => control === null);
  const sign = signOf(metrics[0] ?? '');
  const best = others.toSorted((a, b) => sign * (mean(b) - mean(a))).slice(0, Math.ceil(limit / 3));
  const base = others.filter(({ name }) => name === baseline);
  const chosen = new Set([...base, ...best].map(({ name }) => name));
  for (const { name } of [...others, ...controls]) if (chosen.size < limit) chosen.add(name);
  return chosen;
}

export type { ArmPayload, TurnColumns };

/**
 * The data of the page's script: turns once, everything else by position. -1 is a missing value. Q queries, T turns.
 */
export interface Payload {
  readonly metrics: readonly string[];
  /** By metric: 1 if more is better, -1 if less is. */
  readonly signs: readonly number[];
  readonly relevantGrade: number;
  readonly gradeNames: Readonly<Record<number, string>>;
  /** Position of the baseline among the arms; -1 if it failed. */
  readonly baseline: number;
  /** Confidence of the intervals; a corrected p below 1 - level decides. */
  readonly level: number;
  /**
   * Standard errors that an interval of a clustered mean reaches to either side; null where there are too few clusters
   * for one.
   */
  readonly reach: number | null;
  readonly turns: TurnColumns;
  readonly queries: readonly QueryPayload[];
  readonly strata: readonly StratumPayload[];
  /** Of a sweep; levels that are all numbers are sorted. */
  readonly factors: readonly SweptFactor[];
  /** True if every level of a factor was combined with those of the others: not one at a time, not at random. */
  readonly crossed: boolean;
  /** True if the levels were drawn at random. */
  readonly drawn: boolean;
  /** Position of the arm that the sweep started from among the arms; -1 if it was not run. */
  readonly start: number;
  /** The fate of a relevant turn: `kept`, or the stage that lost it. Empty without attribution. */
  readonly fates: readonly string[];
  /** Tokens at which evidence was measured; empty without curves. */
  readonly budgets: readonly number[];
  /** Null controls stand below the arm that they control. */
  readonly arms: readonly ArmPayload[];
  /** Null where nothing was fitted. */
  readonly fit: FitPayload | null;
}

interface SweptFactor extends Factor {
  /** True if all levels are numbers. */
  readonly numeric: boolean;
}

export interface QueryPayload {
  readonly id: string;
  readonly text: ShowableText;
  readonly timestamp: number;
  readonly author: string;
  readonly channel: string;
  /** Number of its cluster. */
  readonly cluster: number;
  /** Position of the turn that the query itself is. */
  readonly turn: number;
  /** Turn and grade in turn. */
  readonly judged: readonly number[];
  /** Judged turns that the page does not hold. */
  readonly judgedElsewhere: number;
}

interface StratumPayload {
  readonly name: string;
  readonly levels: readonly { readonly name: string; readonly queries: number }[];
  /** [Q] the level of each query; -1 if it has none. */
  readonly of: readonly number[];
}

/**
 * @throws ValidationError for a ranked turn that is not in the dataset; DimensionMismatchError if an arm's arrays do
 *   not fit the queries.
 */
export function buildPayload(result: ExperimentResult): Payload {
  const inspected = selectInspectedArms(result);
  const turns = selectShownTurns(result, inspected);
  const positions = new Map(turns.map((turn, at) => [turn.id, at]));
  const arms = orderLadderArms(result.arms);
  const clusters = [...new Set(result.queries.map(({ cluster }) => cluster))];
  const fates = listFates(result);
  const factors = buildSweptFactors(result);
  return {
    metrics: result.metrics,
    signs: result.metrics.map(signOf),
    relevantGrade: result.dataset.relevantGrade,
    gradeNames: result.dataset.gradeNames,
    baseline: arms.findIndex((arm) => arm.name === result.baseline),
    level: result.statistics.level,
    reach:
      chooseIntervalMethod(clusters.length) === 'none'
        ? null
        : tQuantile((1 + result.statistics.level) / 2, clusters.length - 1),
    turns: packTurnColumns(turns, positions),
    queries: buildQueryPayloads(result, inspected, positions, new Map(clusters.map((cluster, at) => [cluster, at]))),
    strata: result.strata.map(({ name, levels }) => ({
      name,
      levels: levels.map((level) => ({ name: level.name, queries: level.queries.length })),
      of: result.queries.map((_, query) => levels.findIndex(({ queries }) => queries.includes(query))),
    })),
    factors,
    crossed: ['grid', 'factorial'].includes(result.sweep?.method ?? ''),
    drawn: result.sweep?.method === 'random',
    start: arms.findIndex(({ name }) => name === result.sweep?.arm),
    fates,
    budgets: arms.find(({ evidence }) => evidence !== undefined)?.evidence?.budgets ?? [],
    arms: arms.map((arm) => buildArmPayload(arm, result, { positions, inspected, fates, factors })),
    fit: buildFitPayload(result),
  };
}

function buildSweptFactors({ sweep }: ExperimentResult): SweptFactor[] {
  return (sweep?.factors ?? []).map(({ name, levels }) => {
    const numeric = levels.every((level) => level !== '' && Number.isFinite(Number(level)));
    return { name, numeric, levels: numeric ? levels.toSorted((a, b) => Number(a) - Number(b)) : levels };
  });
}

/** Kept turns first, then lost turns in the order of the stages. */
function listFates({ arms }: ExperimentResult): string[] {
  const found = new Set(arms.flatMap(({ attribution }) => Object.keys(attribution)));
  return LOSS_STAGES.filter((stage) => found.has(stage));
}

/**
 * Of a query with more judgements than this, the page holds those that it shows. In a thread of N replies there are N²
 * / 2.
 */
const ALL_JUDGEMENTS = 300;

/**
 * The judgements of a query that the page holds: all, or those of relevant turns and of turns that an inspected arm
 * ranks.
 */
function selectHeldJudgements(
  { dataset, arms }: ExperimentResult,
  inspected: ReadonlySet<string>,
  judgements: readonly (readonly [turn: string, grade: number])[],
  query: number,
): readonly (readonly [turn: string, grade: number])[] {
  if (judgements.length <= ALL_JUDGEMENTS) return judgements;
  const ranked = new Set(
    arms
      .filter(({ name }) => inspected.has(name))
      .flatMap(({ rankings }) => (rankings[query] ?? []).map(({ id }) => id)),
  );
  return judgements.filter(([turn, grade]) => grade >= dataset.relevantGrade || ranked.has(turn));
}

function buildQueryPayloads(
  result: ExperimentResult,
  inspected: ReadonlySet<string>,
  positions: ReadonlyMap<string, number>,
  clusters: ReadonlyMap<string, number>,
): QueryPayload[] {
  return result.queries.map(({ id, text, timestamp, author, channel, cluster, turnId, judgements }, query) => {
    const all = Object.entries(judgements);
    const shown = selectHeldJudgements(result, inspected, all, query).filter(([turn]) => positions.has(turn));
    return {
      id,
      text,
      timestamp,
      author: author ?? '',
      channel: channel ?? '',
      cluster: clusters.get(cluster) as number,
      turn: positions.get(turnId ?? '') ?? -1,
      judged: shown.flatMap(([turn, grade]) => [positions.get(turn) as number, grade]),
      judgedElsewhere: all.length - shown.length,
    };
  });
}
