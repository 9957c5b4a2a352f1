import {
  attachDisplay,
  buildTableBundle,
  type MimeBundle,
  type ShowableText,
  type ShownRow,
  stateShown,
} from '../../../core/display/display.ts';
import { NotFiniteError, ValidationError } from '../../../core/errors/errors.ts';
import { escapeHtml } from '../../../core/text/format.ts';
import {
  type ArmResult,
  type Comparison,
  type Estimate,
  type ExperimentResult,
  formatLook,
  type Interval,
  type StoppedArm,
} from '../../measure/result.ts';
import { countSeeds, listAlikeArms, readSeedDeviation } from '../../measure/warning.ts';
import { describeDecisions } from './decision.ts';
import { formatDecimal, formatInterval, formatProbability, formatSigned } from './format.ts';
import { buildStatisticsLegend, countConversations, listUnresolved, MARKS } from './legend.ts';
import { describeSurvivals } from './side-tables.ts';

/** The part of a ladder that is shown. */
interface ShownLadder {
  readonly baseline: string;
  readonly compared: boolean;
  readonly rows: readonly {
    readonly arm: string;
    readonly isBaseline: boolean;
    readonly cells: readonly {
      readonly metric: string;
      readonly value: string;
      readonly interval: string;
      readonly mark: string;
      readonly comparison: { readonly difference: string; readonly p: string } | null;
    }[];
  }[];
  readonly absent: readonly { readonly arm: string; readonly kind: string; readonly reason: string }[];
  readonly decision: readonly string[];
  readonly legend: readonly string[];
}

/** The first metric has the difference from the baseline and its p beside it, as in a terminal. */
function listShownCells({ arm, isBaseline, cells }: ShownLadder['rows'][number], compared: boolean): ShownRow {
  const columns = cells.flatMap(({ metric, value, interval, mark, comparison }, at) => {
    const written = [value, interval, mark].filter((text) => text !== '').join(' ');
    const cell: [string, ShowableText] = [metric, stateShown(written)];
    if (at > 0 || !compared) return [cell];
    return [cell, ['Δ', stateShown(comparison?.difference ?? '—')], ['p', stateShown(comparison?.p ?? '—')]];
  });
  return { arm: stateShown(isBaseline ? `${arm} (baseline)` : arm), ...Object.fromEntries(columns) };
}

/** A ladder of arms for a notebook, with what it decides and its legend below. */
export function buildLadderBundle({ rows, absent, compared, decision, legend }: ShownLadder): MimeBundle {
  const shown = rows.map((row) => listShownCells(row, compared));
  const failed = absent.map(({ arm, kind, reason }) => ({ arm: stateShown(`${arm}: ${kind}, ${reason}`) }));
  const table = buildTableBundle([...shown, ...failed], { limit: 200 });
  const sentences = [...decision, ...legend];
  const notes = sentences.map((sentence) => `<br>${escapeHtml(sentence)}`).join('');
  return {
    'text/plain': [table['text/plain'], ...sentences].join('\n'),
    'text/html': `${table['text/html']}\n<p>${notes.replace('<br>', '')}</p>`,
  };
}

/** Lets a notebook show a ladder. @returns the same object. */
function displayLadder<T extends ShownLadder>(table: T): T {
  return attachDisplay(table, buildLadderBundle);
}

/** One metric of one arm: the numbers, and how every rendering writes them. */
export interface LadderCell {
  readonly metric: string;
  readonly mean: number;
  readonly verdict: Comparison['verdict'];
  /** ▲, ▼ or nothing. */
  readonly mark: string;
  /** For example `.496`. */
  readonly value: string;
  /** For example `[.47, .52]`; empty with too few conversations. */
  readonly interval: string;
  /** Against the baseline; null in the baseline's own row. */
  readonly comparison: LadderComparison | null;
}

/** An arm against the baseline in one metric, as text for a cell: the difference and its interval, the corrected p, the effect size and the counts. */
export interface LadderComparison {
  readonly difference: string;
  readonly interval: string;
  readonly p: string;
  /** Cohen's d of the paired differences; a dash if they do not vary. */
  readonly effectSize: string;
  /** The minimum detectable difference of a test with this number of queries, see `minimumDetectable` in evaluation. */
  readonly minimumDetectable: string;
  /** Queries that the arm wins, ties and loses: `12/40/9`. */
  readonly counts: string;
}

/** One arm in a table of results: its cell for each metric, its null controls, and its unjudged turns. */
export interface LadderRow {
  readonly arm: string;
  readonly description: string;
  readonly isBaseline: boolean;
  /** The arm that this one is a null control of, and the structure it destroys. */
  readonly control: ArmResult['control'];
  /** The null controls that the arm's gain survives, so that structure does not explain it, with the metrics unless it is all of them. */
  readonly survives: readonly string[];
  /** In the order of the table's metrics. */
  readonly cells: readonly LadderCell[];
  /** Unjudged turns among the top k, summed over the queries. */
  readonly holes: number;
}

/** An arm without figures: it failed, or a race stopped it. */
export interface AbsentRow {
  readonly arm: string;
  readonly description: string;
  readonly kind: 'failed' | 'stopped';
  readonly reason: string;
}

/** The ladder of arms; the only source of the terminal, Markdown, LaTeX and HTML tables. */
export interface LadderTable {
  readonly metrics: readonly string[];
  readonly baseline: string;
  /** True if the arms are compared with the baseline; false if the baseline failed. */
  readonly compared: boolean;
  /** Null controls stand below the arm that they control. */
  readonly rows: readonly LadderRow[];
  readonly absent: readonly AbsentRow[];
  /** Sentences of what the table decides and what it does not. */
  readonly decision: readonly string[];
  /** Sentences that say what marks, brackets and p mean. */
  readonly legend: readonly string[];
  /** Sentences about single arms: failed arms, stopped arms, gains not due to structure. */
  readonly notes: readonly string[];
}

/**
 * The figures of every arm and, unless the baseline failed, its differences from that.
 *
 * @throws ValidationError when the baseline is no arm, not even a failed one, or an arm lacks a metric or its comparison.
 * @throws NotFiniteError for a figure that is not finite.
 */
export function buildLadderTable(result: ExperimentResult): LadderTable {
  const { metrics, baseline, arms, failures, statistics, queries } = result;
  const compared = arms.some(({ name }) => name === baseline);
  if (!compared && !failures.some(({ name }) => name === baseline))
    throw new ValidationError(`baseline is not among the arms: ${baseline}; name one of the arms`, { baseline });
  const ordered = orderLadderArms(arms);
  const rows = ordered.map((arm) => ({
    arm: arm.name,
    description: arm.description,
    isBaseline: arm.name === baseline,
    control: arm.control,
    survives: describeSurvivals(arm, metrics),
    cells: metrics.map((metric) => buildLadderCell(arm, metric, compared && arm.name !== baseline, statistics)),
    holes: arm.holes,
  }));
  const absent = listAbsentRows(result);
  const warnings = (result.warnings ?? []).map(({ code, message }) => `Warning (${code}): ${message}.`);
  const looks = result.look === undefined ? [] : [formatLook(result.look)];
  const legend = [...buildTableLegend(result, compared), ...looks, ...warnings];
  const decision = compared
    ? describeDecisions({
        rows: 'arms',
        baseline,
        metrics,
        arms: ordered,
        statistics,
        conversations: countConversations(queries),
        seeds: countSeeds(arms),
      })
    : [];
  const notes = buildTableNotes(rows, absent);
  return displayLadder({ metrics, baseline, compared, rows, absent, decision, legend, notes });
}

/** The arms in their order, each followed by its null controls; controls of a missing arm are last. */
export function orderLadderArms(arms: readonly ArmResult[]): ArmResult[] {
  const names = new Set(arms.map(({ name }) => name));
  const listArmControls = (name: string) => arms.filter(({ control }) => control?.of === name);
  return [
    ...arms.filter(({ control }) => control === null).flatMap((arm) => [arm, ...listArmControls(arm.name)]),
    ...arms.filter(({ control }) => control !== null && !names.has(control.of)),
  ];
}

function listAbsentRows({ failures, stopped }: ExperimentResult): AbsentRow[] {
  const failed = failures.map(({ name, description, code, message }) => ({
    arm: name,
    description,
    kind: 'failed' as const,
    reason: `${code}: ${message}`,
  }));
  const left = stopped.map((arm) => ({
    arm: arm.name,
    description: arm.description,
    kind: 'stopped' as const,
    reason: stopReason(arm),
  }));
  return [...failed, ...left];
}

/** Why a race stopped an arm. */
export function stopReason({ queries, metric, mean, difference, p }: StoppedArm): string {
  return `after ${queries} queries, ${metric} ${formatDecimal(mean, 3)}, ${formatAgainstBest(difference)}, p ${formatProbability(p)}`;
}

function formatAgainstBest({ mean, low, high }: Interval): string {
  return `${formatSigned(mean, 3)} [${formatSigned(low, 2)}, ${formatSigned(high, 2)}] against the best`;
}

function buildTableNotes(rows: readonly LadderRow[], absent: readonly AbsentRow[]): string[] {
  const unexplained = rows.filter(({ survives }) => survives.length > 0);
  return [
    ...unexplained.map(
      ({ arm, survives }) => `not due to structure: the gain of ${arm} survives ${survives.join(', ')}`,
    ),
    ...absent.map(({ arm, kind, reason }) => `${kind}: ${arm}, ${reason}`),
  ];
}

/** The source of a cell: an arm, or another item measured like an arm. */
type Measured = Pick<ArmResult, 'name' | 'metrics' | 'comparisons' | 'seeds'>;

/** @param level of the intervals; a corrected p below 1 - level decides. */
export function buildLadderCell(
  arm: Measured,
  metric: string,
  isCompared: boolean,
  { level }: Pick<ExperimentResult['statistics'], 'level'>,
): LadderCell {
  const interval = arm.metrics[metric];
  if (interval === undefined)
    throw new ValidationError(`arm ${arm.name} has no metric: ${metric}; name a metric of the result`, { metric });
  assertFinite(interval, `arm ${arm.name}, ${metric}`);
  const comparison = isCompared ? getComparison(arm, metric) : null;
  const verdict = comparison?.verdict ?? 'undecided';
  return {
    metric,
    mean: interval.mean,
    verdict,
    mark: MARKS[verdict],
    value: formatValue(interval.mean, readSeedDeviation(arm, metric)),
    interval: formatInterval(interval, formatDecimal, 2),
    comparison: comparison && buildLadderComparison(comparison, 1 - level),
  };
}

/** A mean, with the standard deviation of the seeds where they change it. */
function formatValue(mean: number, deviation: number | undefined): string {
  const value = formatDecimal(mean, 3);
  return deviation === undefined ? value : `${value} ± ${formatDecimal(deviation, 3)}`;
}

/** A comparison as every table writes it. @param bound of the corrected p, which decides */
export function buildLadderComparison(comparison: Comparison, bound: number): LadderComparison {
  const { difference, correctedP, effectSize, minimumDetectable, wins, ties, losses } = comparison;
  return {
    difference: formatSigned(difference.mean, 3),
    interval: formatInterval(difference, formatSigned, 2),
    p: formatProbability(correctedP, bound),
    effectSize: effectSize === null ? '—' : formatSigned(effectSize, 2),
    minimumDetectable: minimumDetectable === null ? '—' : formatDecimal(minimumDetectable, 3),
    counts: `${wins}/${ties}/${losses}`,
  };
}

function getComparison(arm: Measured, metric: string): Comparison {
  const comparison = arm.comparisons?.[metric];
  if (comparison === undefined)
    throw new ValidationError(
      `arm ${arm.name} has no comparison with the baseline in: ${metric}; measure the arms again`,
      { metric },
    );
  assertFinite(comparison.difference, `difference of arm ${arm.name}, ${metric}`);
  if (!Number.isFinite(comparison.correctedP))
    throw new NotFiniteError('corrected p', `arm ${arm.name}, ${metric}`, comparison.correctedP);
  return comparison;
}

function assertFinite({ mean, low, high }: Estimate, where: string): void {
  for (const value of low === null ? [mean] : [mean, low, high])
    if (!Number.isFinite(value)) throw new NotFiniteError('interval', where, value);
}

function buildTableLegend(
  { queries, baseline, statistics, metrics, arms }: ExperimentResult,
  compared: boolean,
): string[] {
  const others = arms.filter(({ name }) => name !== baseline);
  const controls = others.filter(({ control }) => control !== null).length;
  return buildStatisticsLegend({
    rows: 'arms',
    baseline,
    compared,
    isTested: compared || arms.some(({ structure }) => structure !== null),
    controls,
    metrics,
    unresolved: compared ? listUnresolved(others, metrics) : [],
    statistics,
    queries: queries.length,
    conversations: countConversations(queries),
    seeds: countSeeds(arms),
    alike: listAlikeArms(arms),
    means: arms.flatMap((arm) => Object.values(arm.metrics)),
  });
}
