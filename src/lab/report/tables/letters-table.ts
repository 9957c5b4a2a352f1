import { nameLetter } from '../../../eval/significance/all-pairs.ts';
import { formatLook } from '../../measure/result.ts';
import type { StoredPairs } from '../../stored/run-comparison.ts';
import { describeUndecidable } from './decision.ts';
import { formatDecimal } from './format.ts';
import { describeMeansOverSeeds, describeUnresolved, testText } from './legend.ts';
import { escapeLatex, formatLatexRow, guardLatexRow } from './markdown.ts';
import { escapeMarkdown, formatRowsAsPipeTable } from './pipe-table.ts';
import { wrapText } from './plain-table.ts';
import { alignLines } from './text-table.ts';

/** One arm in one metric. */
interface LettersCell {
  readonly value: string;
  /** The letters of the arms that this one is better than. */
  readonly beaten: readonly string[];
  /** The groups that the arm is in, in capitals. */
  readonly groups: readonly string[];
}

interface LettersRow {
  readonly letter: string;
  readonly arm: string;
  /** In the order of the metrics. */
  readonly cells: readonly LettersCell[];
}

/** The display of every pair; the only source of its three renderings. */
export interface LettersTable {
  readonly metrics: readonly string[];
  readonly rows: readonly LettersRow[];
  readonly legend: readonly string[];
}

/** Superscripts of a to z, as ranx prints them. */
const SUPERSCRIPTS = Array.from('ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖ𐞥ʳˢᵗᵘᵛʷˣʸᶻ');

function raise(letters: readonly string[]): string {
  const raised = letters.map((label) =>
    Array.from(label, (letter) => SUPERSCRIPTS[letter.charCodeAt(0) - 97] as string).join(''),
  );
  return raised.join(isLong(letters) ? ' ' : '');
}

/** True if a label has two letters, so that labels need something between them. */
function isLong(letters: readonly string[]): boolean {
  return letters.some((letter) => letter.length > 1);
}

function joinLetters(letters: readonly string[]): string {
  return letters.join(isLong(letters) ? ', ' : '');
}

/** Letters for every pair of arms: those that an arm is better than, and the groups of a compact letter display. */
export function buildLettersTable(compared: StoredPairs): LettersTable {
  const { arms, metrics, pairs } = compared;
  const rows = arms.map((arm, a) => ({
    letter: nameLetter(a),
    arm,
    cells: metrics.map((metric): LettersCell => {
      const { means, beaten, groups } = pairs[metric] as StoredPairs['pairs'][string];
      const own = groups.flatMap((group, g) => (group.includes(a) ? [nameLetter(g).toUpperCase()] : []));
      return { value: formatDecimal(means[a] as number, 3), beaten: (beaten[a] ?? []).map(nameLetter), groups: own };
    }),
  }));
  return { metrics, rows, legend: buildLegend(compared) };
}

function buildLegend({
  arms,
  metrics,
  pairs,
  statistics,
  queries,
  conversations,
  seeds,
  looks,
}: StoredPairs): string[] {
  const count = (arms.length * (arms.length - 1)) / 2;
  const open = metrics.flatMap((metric) =>
    (pairs[metric]?.pairs ?? []).flatMap(({ first, second, unresolved }) =>
      unresolved ? [`${nameLetter(first)} and ${nameLetter(second)} (${metric})`] : [],
    ),
  );
  const bound = formatDecimal(1 - statistics.level, 2);
  return [
    `Means over ${queries} queries in ${conversations} conversations.`,
    `A superscript names each arm that the arm is better than: the corrected p is below ${bound}.`,
    'Arms that share a capital letter are not distinguished; arms that share none are.',
    ...describeMeansOverSeeds(seeds),
    ...testText(statistics, `${count} pairs of arms of a metric`, conversations),
    ...describeUndecidable(statistics, conversations, count, 'pairs'),
    ...describeUnresolved(open, statistics),
    ...looks.map(formatLook),
  ];
}

/** @param width of the lines of the legend; without it a sentence is one line. */
export function renderLettersText(compared: StoredPairs, width = Number.POSITIVE_INFINITY): string {
  const { metrics, rows, legend } = buildLettersTable(compared);
  const heading = ['', 'arm', ...metrics.flatMap((metric) => [metric, ''])];
  const lines = rows.map(({ letter, arm, cells }) => [
    letter,
    arm,
    ...cells.flatMap(({ value, beaten, groups }) => [`${value}${raise(beaten)}`, joinLetters(groups)]),
  ]);
  return `${[...alignLines([heading, ...lines]), '', ...legend.flatMap((line) => wrapText(line, width))].join('\n')}\n`;
}

export function renderLettersMarkdown(compared: StoredPairs): string {
  const { metrics, rows, legend } = buildLettersTable(compared);
  const heading = ['', 'arm', ...metrics.map(escapeMarkdown)];
  const lines = rows.map(({ letter, arm, cells }) => [
    letter,
    escapeMarkdown(arm),
    ...cells.map(({ value, beaten, groups }) => {
      const raised = beaten.length === 0 ? '' : `<sup>${joinLetters(beaten)}</sup>`;
      return `${value}${raised} ${joinLetters(groups)}`;
    }),
  ]);
  return `${formatRowsAsPipeTable([heading, ...lines])}\n\n${legend.map(escapeMarkdown).join('\n')}\n`;
}

/** A `table` that needs the package booktabs alone. */
export function renderLettersLatex(compared: StoredPairs): string {
  const { metrics, rows, legend } = buildLettersTable(compared);
  const lines = rows.map(({ letter, arm, cells }) =>
    formatLatexRow([
      letter,
      guardLatexRow(arm),
      ...cells.flatMap(({ value, beaten, groups }) => [
        `${value}${beaten.length === 0 ? '' : `$^{\\mathrm{${joinLetters(beaten)}}}$`}`,
        joinLetters(groups),
      ]),
    ]),
  );
  return `${[
    '% \\usepackage{booktabs}',
    '\\begin{table}',
    '\\centering',
    `\\caption{${escapeLatex(compared.runs.join(' and '))}}`,
    `\\begin{tabular}{ll${'r@{ }l'.repeat(metrics.length)}}`,
    '\\toprule',
    formatLatexRow(['', 'arm', ...metrics.map((metric) => `\\multicolumn{2}{c}{${escapeLatex(metric)}}`)]),
    '\\midrule',
    ...lines,
    '\\bottomrule',
    '\\end{tabular}',
    '',
    '\\smallskip',
    `{\\footnotesize ${legend.map(escapeLatex).join(' \\\\\n')}\\par}`,
    '\\end{table}',
  ].join('\n')}\n`;
}
