import { ValidationError } from '../../../core/errors/errors.ts';
import { formatLook } from '../../measure/result.ts';
import { countSeeds, listAlikeArms } from '../../measure/warning.ts';
import type { RunFigures } from '../../stored/run-figures.ts';
import {
  type ChosenColumn,
  listCellValues,
  nameStatistic,
  parseArmList,
  parseColumns,
  writeCell,
} from './chosen-columns.ts';
import { formatCsv } from './csv.ts';
import { describeDecisions } from './decision.ts';
import { buildStatisticsLegend, listUnresolved, MARKS } from './legend.ts';
import { escapeLatex, formatLatexRow, guardLatexRow, LATEX_MARKS } from './markdown.ts';
import { escapeMarkdown, formatRowsAsPipeTable } from './pipe-table.ts';

/** What a table shows. */
export interface TableChoice {
  /** Names with commas between them, in the order of the rows; null for all finished arms. */
  readonly arms: string | null;
  /** Names of columns, in their order; null for the mean and the interval of every metric. */
  readonly columns: readonly string[] | null;
  /** Digits after the point; null for 3, in CSV for all. p has three. */
  readonly digits: number | null;
}

type Arm = RunFigures['arms'][number];

/** The rows and columns that were chosen. */
interface Chosen {
  readonly arms: readonly Arm[];
  readonly columns: readonly ChosenColumn[];
}

/** The format of a table of chosen arms and columns. */
export type ChosenTableFormat = 'latex' | 'markdown' | 'csv';

const DIGITS = 3;

/** An empty cell, for people. */
const NOTHING = '—';

/**
 * A table of chosen arms and columns from the figures of a finished run. Nothing is computed again: p stays corrected
 * over all arms of the run.
 *
 * @throws ValidationError for an unknown arm or column, with the nearest known name, and for an arm without figures.
 */
export function renderChosenTable(figures: RunFigures, choice: TableChoice, format: ChosenTableFormat): string {
  const arms = chooseArms(figures, choice.arms);
  const words = choice.columns ?? figures.metrics.flatMap((metric) => [metric, 'interval']);
  const columns = parseColumns(words, figures.metrics);
  if (format === 'csv') return renderCsvTable({ arms, columns }, choice.digits);
  const digits = choice.digits ?? DIGITS;
  const render = format === 'latex' ? renderLatexTable : renderMarkdownTable;
  return render(figures, { arms, columns }, digits);
}

function chooseArms({ arms, failures, stopped }: RunFigures, list: string | null): Arm[] {
  if (list === null) return [...arms];
  const absent = new Map([
    ...failures.map(({ name, code, message }): [string, string] => [name, `${code}: ${message}`]),
    ...stopped.map(({ name, queries }): [string, string] => [name, `a race stopped it after ${queries} queries`]),
  ]);
  return parseArmList(list, [...arms.map(({ name }) => name), ...absent.keys()]).map((name) => {
    const arm = arms.find((other) => other.name === name);
    if (arm !== undefined) return arm;
    throw new ValidationError(`arm has no figures: ${name} (${absent.get(name)}); leave it out of --arms`, { name });
  });
}

function renderCsvTable({ arms, columns }: Chosen, digits: number | null): string {
  const round = (value: string | number | null) =>
    typeof value === 'number' && digits !== null ? Number(value.toFixed(digits)) : value;
  const rows = arms.map((arm) => columns.flatMap((column) => listCellValues(arm, column)));
  const headings = rows[0]?.map(([heading]) => heading) ?? [];
  return formatCsv([
    ['arm', ...headings],
    ...rows.map((row, at) => [arms[at]?.name, ...row.map(([, value]) => round(value))]),
  ]);
}

/** Cells without marks and escapes. */
function writeRow(figures: RunFigures, arm: Arm, columns: readonly ChosenColumn[], digits: number): string[] {
  const bound = 1 - figures.statistics.level;
  return columns.map((column) => writeCell(arm, column, digits, bound) ?? NOTHING);
}

/** The verdict that a mean is marked with; other columns and the baseline have no mark. */
function findVerdict(arm: Arm, { kind, metric }: ChosenColumn): keyof typeof MARKS {
  return kind === 'mean' ? (arm.comparisons?.[metric]?.verdict ?? 'undecided') : 'undecided';
}

function renderMarkdownTable(figures: RunFigures, { arms, columns }: Chosen, digits: number): string {
  const metrics = new Set(columns.flatMap(({ metric }) => metric ?? []));
  const headings = columns.map((column) => {
    if (column.kind === 'mean') return column.metric;
    return column.metric === null || metrics.size === 1
      ? nameStatistic(column)
      : `${column.metric} ${nameStatistic(column)}`;
  });
  const rows = arms.map((arm) => [
    escapeMarkdown(arm.name) + (arm.name === figures.baseline ? ' (baseline)' : ''),
    ...writeRow(figures, arm, columns, digits).map((cell, at) =>
      [cell, MARKS[findVerdict(arm, columns[at] as ChosenColumn)]].filter(Boolean).join(' '),
    ),
  ]);
  const table = formatRowsAsPipeTable([['arm', ...headings.map(escapeMarkdown)], ...rows]);
  return `${[table, buildLegend(figures, { arms, columns }).map(escapeMarkdown).join('\n')].join('\n\n')}\n`;
}

/** Columns beside each other that are of one metric. */
function groupByMetric(columns: readonly ChosenColumn[]): ChosenColumn[][] {
  const groups: ChosenColumn[][] = [];
  for (const column of columns) {
    const last = groups.at(-1);
    if (last !== undefined && last[0]?.metric === column.metric) last.push(column);
    else groups.push([column]);
  }
  return groups;
}

/** One row of headings if each metric has one column; otherwise the metrics, and below them their statistics. */
function formatLatexHeading(columns: readonly ChosenColumn[]): string[] {
  const groups = groupByMetric(columns);
  const isMean = ({ kind }: ChosenColumn) => kind === 'mean' || kind === 'unjudged';
  if (columns.every(isMean) && groups.length === columns.length)
    return [formatLatexRow(['arm', ...columns.map(({ kind, metric }) => escapeLatex(metric ?? kind))])];
  const rules: string[] = [];
  let first = 2;
  const top = groups.map((group) => {
    const metric = group[0]?.metric ?? null;
    const last = first + group.length - 1;
    if (metric !== null) rules.push(`\\cmidrule(lr){${first}-${last}}`);
    first = last + 1;
    return metric === null ? '' : `\\multicolumn{${group.length}}{c}{${escapeLatex(metric)}}`;
  });
  return [
    formatLatexRow(['', ...top]),
    rules.join(' '),
    formatLatexRow(['arm', ...columns.map((column) => escapeLatex(nameStatistic(column)))]),
  ];
}

function renderLatexTable(figures: RunFigures, { arms, columns }: Chosen, digits: number): string {
  const { experiment, hash, dataset, baseline } = figures;
  const rows = arms.map((arm) => {
    const name = arm.name === baseline ? `\\emph{${escapeLatex(arm.name)}}` : guardLatexRow(arm.name);
    const cells = writeRow(figures, arm, columns, digits).map(
      (cell, at) =>
        escapeLatex(cell === NOTHING ? '---' : cell) + LATEX_MARKS[findVerdict(arm, columns[at] as ChosenColumn)],
    );
    return formatLatexRow([name, ...cells]);
  });
  const lines = [
    '% \\usepackage{booktabs}',
    '\\begin{table}',
    '\\centering',
    `\\caption{${escapeLatex(`${experiment} on ${dataset.name}, ${dataset.split}`)}}`,
    `\\label{tab:${experiment.replace(/[^A-Za-z0-9]+/g, '-').replace(/-$/, '')}}`,
    `\\begin{tabular}{l${'r'.repeat(columns.length)}}`,
    '\\toprule',
    ...formatLatexHeading(columns),
    '\\midrule',
    ...rows,
    '\\bottomrule',
    '\\end{tabular}',
    '',
    '\\smallskip',
    `{\\footnotesize ${buildLegend(figures, { arms, columns }).map(escapeLatex).join(' \\\\\n')} \\\\`,
    `${escapeLatex(`Experiment ${experiment} (${hash}).`)}\\par}`,
    '\\end{table}',
  ];
  return `${lines.join('\n')}\n`;
}

/** The decision and the legend below a table. Corrections are those of the run, also for fewer arms. */
function buildLegend(figures: RunFigures, { arms: chosen, columns }: Chosen): string[] {
  const { arms, baseline, statistics, queries, conversations, metrics, failures, look } = figures;
  const compared = arms.some(({ name }) => name === baseline);
  const others = arms.filter(({ name }) => name !== baseline);
  const controls = others.filter(({ control }) => control !== null).length;
  const isPart = chosen.length < arms.length;
  const shown = [...new Set(columns.flatMap(({ metric }) => metric ?? []))];
  const legend = buildStatisticsLegend({
    rows: isPart ? `${others.length - controls} other arms of the run` : 'arms',
    baseline,
    compared,
    isTested: compared,
    controls,
    metrics,
    unresolved: compared ? listUnresolved(chosen, metrics) : [],
    statistics,
    queries,
    conversations,
    seeds: countSeeds(arms),
    alike: listAlikeArms(chosen),
    means: chosen.flatMap((arm) => Object.values(arm.metrics)),
  });
  const failed = isPart ? [] : failures.map(({ name, code, message }) => `failed: ${name}, ${code}: ${message}`);
  const decision = describeDecisions({
    rows: 'arms',
    baseline,
    metrics: shown.length === 0 ? metrics : shown,
    arms: compared ? chosen : [],
    corrected: others.length - controls,
    statistics,
    conversations,
    seeds: countSeeds(arms),
  });
  return [...decision, ...legend, ...(look === undefined ? [] : [formatLook(look)]), ...failed];
}
