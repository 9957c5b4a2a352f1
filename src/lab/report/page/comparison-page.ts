import { html, Markup } from '../../../core/text/format.ts';
import { formatLook } from '../../measure/result.ts';
import type { ComparedRun, RunComparison } from '../../stored/run-comparison.ts';
import { describeDecisions, describeUndecidable } from '../tables/decision.ts';
import { formatDecimal, formatInterval, formatProbability, formatSigned } from '../tables/format.ts';
import {
  describeCoverage,
  describeIntervals,
  describeMeansOverSeeds,
  describeUnresolved,
  listUnresolved,
  MARKS,
  testText,
} from '../tables/legend.ts';
import { escapeMarkdown, formatRowsAsPipeTable } from '../tables/pipe-table.ts';
import { type PlainCell, type PlainTable, renderPlainTable, wrapText } from '../tables/plain-table.ts';
import { alignLines } from '../tables/text-table.ts';
import { bundleClientScript } from './client-script.ts';
import { renderDecision } from './html-table.ts';
import { PAGE_STYLE, PRINT_STYLE } from './page-style.ts';

/** The separator of two columns of {@link alignLines}. */
const GAP = 2;

/** A column is made no narrower than this. */
const NARROWEST = 8;

/** Widths of columns whose sum is at most `room`, if that can be: the widest give way. */
function narrowWidths(natural: readonly number[], room: number): number[] {
  const widths = [...natural];
  for (let over = widths.reduce((sum, width) => sum + width, 0) - room; over > 0; over--) {
    const widest = Math.max(...widths);
    if (widest <= NARROWEST) break;
    widths[widths.indexOf(widest)] = widest - 1;
  }
  return widths;
}

/** A row as rows of a line each. */
function splitCellLines(cells: readonly (readonly string[])[]): string[][] {
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => cells.map((lines) => lines[at] ?? ''));
}

/**
 * Rows as {@link alignLines} prints them, the cells of wide columns in several lines, so that no line is longer than
 * `width`. Headings stay in one line.
 */
export function formatWrappedTable(rows: readonly (readonly string[])[], width: number): string[] {
  const [heading = [], ...others] = rows;
  const natural = heading.map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  const widths = narrowWidths(natural, width - GAP * (heading.length - 1));
  const lines = others.flatMap((row) => splitCellLines(row.map((cell, at) => wrapText(cell, widths[at] as number))));
  return alignLines([heading, ...lines]);
}

/** A comparison as sentences and tables, from which every rendering is laid out. */
interface Part {
  readonly sentences: readonly string[];
  readonly table: PlainTable | null;
}

/**
 * Two stored runs side by side, for a terminal.
 *
 * @param width of its lines; without it a line is as long as it must be.
 */
export function renderComparisonText(comparison: RunComparison, width = Number.POSITIVE_INFINITY): string {
  const texts = listTextParts(comparison).map(({ sentences, table }) =>
    [
      ...sentences.flatMap((sentence) => wrapText(sentence, width)),
      ...(table === null ? [] : formatWrappedTable(listTextRows(table), width)),
    ].join('\n'),
  );
  return `${texts.join('\n\n')}\n`;
}

/** Two stored runs side by side, as Markdown with pipe tables. */
export function renderComparisonMarkdown(comparison: RunComparison): string {
  const texts = listTextParts(comparison).map(({ sentences, table }) =>
    [
      ...sentences.map(escapeMarkdown),
      ...(table === null
        ? []
        : [`\n${formatRowsAsPipeTable(listTextRows(table).map((row) => row.map(escapeMarkdown)))}`]),
    ].join('\n'),
  );
  return `${texts.join('\n\n')}\n`;
}

/** One page that works offline; its tables sort by every column. */
export function renderComparisonHtml(comparison: RunComparison): string {
  const { first, second } = comparison;
  const parts = buildComparisonParts(comparison).map(
    ({ sentences, table }) => html`
<section>${sentences.map((sentence) => html`<p>${sentence}</p>`)}${table === null ? '' : renderPlainTable(table)}</section>`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>${formatRunLabel(first)} and ${formatRunLabel(second)}</title>
<style>${new Markup(PAGE_STYLE + PRINT_STYLE)}</style>
</head>
<body>
<header><p class="kicker">comparison</p><h1>${formatRunLabel(first)} and ${formatRunLabel(second)}</h1></header>
<main>${renderDecision(buildComparisonDecision(comparison))}${parts}
</main>
<script>${new Markup(bundleClientScript('comparison'))}</script>
</body>
</html>
`.text;
}

function formatRunLabel({ summary }: ComparedRun): string {
  return `${summary.experiment} ${summary.hash}`;
}

function listTextRows({ headings, rows }: PlainTable): string[][] {
  return [headings.map(({ name }) => name), ...rows.map(({ cells }) => cells.map(({ text }) => text))];
}

/** The parts, and what they decide below them. */
function listTextParts(comparison: RunComparison): Part[] {
  const sentences = buildComparisonDecision(comparison);
  return [...buildComparisonParts(comparison), ...(sentences.length === 0 ? [] : [{ sentences, table: null }])];
}

function buildComparisonParts(comparison: RunComparison): Part[] {
  const { differences, onlyInFirst, onlyInSecond, arms, obstacles } = comparison;
  const absent = [
    ...(onlyInFirst.length === 0 ? [] : [`Arms of A alone: ${onlyInFirst.join(', ')}.`]),
    ...(onlyInSecond.length === 0 ? [] : [`Arms of B alone: ${onlyInSecond.join(', ')}.`]),
  ];
  const noDifference = differences.length === 0 ? ['The configs are the same.'] : ['What differs in the configs:'];
  return [
    { sentences: [], table: runTable(comparison) },
    {
      sentences: [...noDifference, ...absent],
      table: differences.length === 0 ? null : buildDifferenceTable(comparison),
    },
    ...(arms.length === 0
      ? [{ sentences: ['No arm is in both runs.'], table: null }]
      : [
          { sentences: [...obstacles, ...buildComparisonLegend(comparison)], table: buildComparedArmTable(comparison) },
        ]),
  ];
}

/** The test of arms of two runs. */
const TESTED = { test: 'permutation', correction: 'holm' } as const;

/** The metrics in which arms are compared. */
function listTestedMetrics({ arms, metrics }: RunComparison): string[] {
  return metrics.filter((metric) => arms.some((arm) => arm.metrics[metric]?.comparison != null));
}

function listComparedArms({ arms, first }: RunComparison, tested: readonly string[]) {
  const controls = new Map(first.summary.arms.map(({ name, control }) => [name, control]));
  return arms.map(({ name, metrics: figures }) => ({
    name,
    control: controls.get(name) ?? null,
    comparisons: Object.fromEntries(
      tested.flatMap((metric) => {
        const comparison = figures[metric]?.comparison;
        return comparison ? [[metric, comparison] as const] : [];
      }),
    ),
  }));
}

/** Sentences of what the comparison decides; empty where nothing is tested. */
function buildComparisonDecision(comparison: RunComparison): string[] {
  const { conversations, statistics } = comparison;
  const metrics = listTestedMetrics(comparison);
  if (conversations === null) return [];
  return describeDecisions({
    rows: 'arms',
    baseline: 'A',
    metrics,
    arms: listComparedArms(comparison, metrics),
    statistics: { ...statistics, ...TESTED },
    conversations,
    words: { than: 'in B than in A', from: 'between A and B' },
  });
}

function buildComparisonLegend(comparison: RunComparison): string[] {
  const { arms, first, conversations, statistics, seeds } = comparison;
  const { level } = statistics;
  const tested = listTestedMetrics(comparison);
  if (tested.length === 0 || conversations === null) return ['A and B: means.'];
  const how = { ...statistics, ...TESTED };
  const controls = first.summary.arms.filter(
    ({ name, control }) => control !== null && arms.some((arm) => arm.name === name),
  );
  return [
    `B minus A: ${describeIntervals(conversations, level)}.`,
    ...describeCoverage(conversations, level),
    ...describeMeansOverSeeds(seeds),
    ...testText(how, 'arms', conversations),
    `${MARKS.better} B better, ${MARKS.worse} B worse, said only where the corrected p is below ${formatDecimal(1 - level, 2)}.`,
    ...describeUndecidable(how, conversations, controls.length, 'comparisons of null controls'),
    ...describeUnresolved(listUnresolved(listComparedArms(comparison, tested), tested), statistics),
  ];
}

function runTable({ first, second }: RunComparison): PlainTable {
  const rows: [string, (run: ComparedRun) => string][] = [
    ['experiment', ({ summary }) => summary.experiment],
    ['hash', ({ summary }) => summary.hash],
    ['data', ({ summary }) => `${summary.dataset.name} ${summary.dataset.split}, ${summary.dataset.hash.slice(0, 12)}`],
    ['queries', ({ summary }) => String(summary.queries)],
    ['version', ({ summary: { environment } }) => `${environment.version}, commit ${environment.commit}`],
    ['date', ({ summary: { environment } }) => environment.date ?? '—'],
    ['backend', ({ summary: { environment } }) => environment.backend],
    ['machine', ({ summary: { environment } }) => `${environment.machine.cores} x ${environment.machine.cpu}`],
    ['seed', ({ summary: { environment } }) => String(environment.seed)],
    ['command', ({ summary: { environment } }) => environment.command],
    ['look', ({ summary: { look } }) => (look === undefined ? '—' : formatLook(look))],
  ];
  const isCounted = [first, second].some(({ summary }) => summary.look !== undefined);
  const shown = isCounted ? rows : rows.slice(0, -1);
  return {
    label: 'the runs',
    headings: ['', 'A', 'B'].map((name) => ({ name, numeric: false })),
    rows: shown.map(([name, of]) => ({ cells: [{ text: name }, { text: of(first) }, { text: of(second) }] })),
  };
}

function buildDifferenceTable({ differences }: RunComparison): PlainTable {
  const show = (value: unknown) =>
    value === undefined ? '—' : typeof value === 'string' ? value : JSON.stringify(value);
  return {
    label: 'differences of the configs',
    headings: ['key', 'A', 'B'].map((name) => ({ name, numeric: false })),
    rows: differences.map(({ path, first, second }) => ({
      cells: [{ text: path }, { text: show(first) }, { text: show(second) }],
    })),
  };
}

/** A row an arm and metric, so that any number of metrics fits. */
function buildComparedArmTable({ arms, metrics, statistics }: RunComparison): PlainTable {
  const words = ['arm', 'metric'].map((name) => ({ name, numeric: false }));
  const numbers = ['A', 'B', 'B − A'].map((name) => ({ name, numeric: true }));
  const last = [
    { name: 'interval', numeric: false },
    { name: 'p', numeric: true, first: 'ascending' as const },
    { name: 'd', numeric: true },
    { name: 'w/t/l', numeric: false },
  ];
  const rows = arms.flatMap(({ name, metrics: figures }) =>
    metrics.map((metric) => ({
      cells: [{ text: name }, { text: metric }, ...formatFigureCells(figures[metric] as Figures, 1 - statistics.level)],
    })),
  );
  return { label: 'arms of both runs', headings: [...words, ...numbers, ...last], rows };
}

type Figures = RunComparison['arms'][number]['metrics'][string];

/** @param bound of the corrected p, which decides. */
function formatFigureCells({ first, second, comparison }: Figures, bound: number): PlainCell[] {
  const means = [first, second].map((mean) => ({ text: formatDecimal(mean, 3), value: mean }));
  if (comparison === null) {
    const gain = second - first;
    return [...means, { text: formatSigned(gain, 3), value: gain }, ...['—', '—', '—', '—'].map((text) => ({ text }))];
  }
  const { difference, correctedP, verdict, effectSize, wins, ties, losses } = comparison;
  return [
    ...means,
    { text: `${formatSigned(difference.mean, 3)}${MARKS[verdict] && ` ${MARKS[verdict]}`}`, value: difference.mean },
    { text: formatInterval(difference, formatSigned, 3) || '—' },
    { text: formatProbability(correctedP, bound), value: correctedP },
    effectSize === null ? { text: '—' } : { text: formatSigned(effectSize, 2), value: effectSize },
    { text: `${wins}/${ties}/${losses}` },
  ];
}
