import { freezeDeeply } from '../../../core/values/once.ts';
import { chooseIntervalMethod } from '../../../eval/intervals/mean-intervals.ts';
import type { ArmResult, ExperimentResult } from '../../measure/result.ts';
import { countConversations } from './legend.ts';
import { stopReason } from './table.ts';

type Value = string | number | null | undefined;

/** Characters that begin a formula in a spreadsheet, in half and in full width. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Rows as CSV (RFC 4180, line feeds): the first row is the heading; missing values are empty, numbers have all their digits. A text that a spreadsheet would compute
 * is preceded by an apostrophe, which makes it a text there; numbers are not changed.
 */
export function formatCsv(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => `${row.map(formatCsvField).join(',')}\n`).join('');
}

function formatCsvField(value: Value): string {
  const given = value === null || value === undefined ? '' : String(value);
  const text = FORMULA.test(given) && !NUMBER.test(given) ? `'${given}` : given;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Columns of a difference from a baseline and its test, in every CSV file. */
export const DIFFERENCE_COLUMNS = freezeDeeply([
  'difference',
  'difference low',
  'difference high',
  'p',
  'corrected p',
  'samples',
  'unresolved',
  'verdict',
] as const);

const COLUMNS = [
  'arm',
  'status',
  'baseline',
  'control of',
  'control',
  'survives',
  'metric',
  'mean',
  'low',
  'high',
  ...DIFFERENCE_COLUMNS,
  'effect size',
  'minimum detectable',
  'wins',
  'ties',
  'losses',
  'queries',
  'conversations',
  'intervals',
  'unjudged',
  'message',
] as const;

type Row = Readonly<Partial<Record<(typeof COLUMNS)[number], Value>>>;

/**
 * A run as CSV: a row for each arm and metric, first of the arms, then of those with weights of users, which have a
 * baseline of their own; then the failed and the stopped arms. A sweep adds a column `factor:name` for each factor,
 * and arms with several seeds add those.
 */
export function renderCsv(result: ExperimentResult): string {
  const factors = result.sweep?.factors.map(({ name }) => name) ?? [];
  const isRepeated = result.arms.some(({ seeds }) => seeds !== undefined);
  const { users } = result;
  const tables = [result, ...(users === undefined ? [] : [{ ...result, arms: users.arms, baseline: users.baseline }])];
  const rows = tables.flatMap((table) =>
    table.arms.flatMap((arm) =>
      result.metrics.map((metric) => [
        ...listRowValues(buildFiguresRow(arm, metric, table)),
        ...factors.map((factor) => arm.levels?.[factor]),
        ...(isRepeated ? [arm.seeds?.count, arm.seeds?.deviations[metric]] : []),
      ]),
    ),
  );
  const names = [...factors.map((factor) => `factor:${factor}`), ...(isRepeated ? ['seeds', 'seed deviation'] : [])];
  return formatCsv([[...COLUMNS, ...names], ...rows, ...listAbsentCsvRows(result, names.length)]);
}

function listRowValues(row: Row): Value[] {
  return COLUMNS.map((column) => row[column]);
}

function buildFiguresRow(arm: ArmResult, metric: string, { baseline, queries }: ExperimentResult): Row {
  const interval = arm.metrics[metric];
  const comparison = arm.comparisons?.[metric];
  const conversations = countConversations(queries);
  return {
    arm: arm.name,
    status: 'finished',
    baseline,
    'control of': arm.control?.of,
    control: arm.control?.kind,
    survives: arm.structure?.metrics[metric]?.survives.join('; '),
    metric,
    mean: interval?.mean,
    low: interval?.low,
    high: interval?.high,
    difference: comparison?.difference.mean,
    'difference low': comparison?.difference.low,
    'difference high': comparison?.difference.high,
    p: comparison?.p,
    'corrected p': comparison?.correctedP,
    samples: comparison?.samples,
    unresolved: comparison && String(comparison.unresolved),
    verdict: comparison?.verdict,
    'effect size': comparison?.effectSize,
    'minimum detectable': comparison?.minimumDetectable,
    wins: comparison?.wins,
    ties: comparison?.ties,
    losses: comparison?.losses,
    queries: queries.length,
    conversations,
    intervals: chooseIntervalMethod(conversations, arm.seeds?.count),
    unjudged: arm.holes,
  };
}

function listAbsentCsvRows({ failures, stopped, baseline }: ExperimentResult, factors: number): Value[][] {
  const failed: Row[] = failures.map(({ name, code, message }) => ({
    arm: name,
    status: 'failed',
    baseline,
    message: `${code}: ${message}`,
  }));
  // Compared with the best arm of the race on the queries of a round: that p is not one of the column, nor is the baseline its other side.
  const left: Row[] = stopped.map((arm) => ({
    arm: arm.name,
    status: 'stopped',
    metric: arm.metric,
    mean: arm.mean,
    queries: arm.queries,
    message: stopReason(arm),
  }));
  return [...failed, ...left].map((row) => [...listRowValues(row), ...new Array<Value>(factors).fill(null)]);
}
