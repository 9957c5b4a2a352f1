import type { ExperimentResult } from '../../measure/result.ts';
import { buildLadderTable, type LadderCell, type LadderRow, type LadderTable } from './table.ts';

/** A mark of significance as a superscript. */
export const LATEX_MARKS: Readonly<Record<LadderCell['verdict'], string>> = {
  better: '$^{\\uparrow}$',
  worse: '$^{\\downarrow}$',
  undecided: '',
};

/** The LaTeX of special characters. */
const CHARACTERS: Readonly<Record<string, string>> = {
  '\\': '\\textbackslash{}',
  '{': '\\{',
  '}': '\\}',
  $: '\\$',
  '&': '\\&',
  '#': '\\#',
  '%': '\\%',
  _: '\\_',
  '^': '\\textasciicircum{}',
  '~': '\\textasciitilde{}',
  '<': '\\textless{}',
  '>': '\\textgreater{}',
  '|': '\\textbar{}',
  '−': '$-$',
  '×': '$\\times$',
  '±': '$\\pm$',
  '≤': '$\\leq$',
  '≥': '$\\geq$',
  '→': '$\\rightarrow$',
  '▲': '$\\uparrow$',
  '▼': '$\\downarrow$',
  '…': '\\ldots{}',
};

/** Escapes a text for LaTeX, in one line. */
export function escapeLatex(text: string): string {
  return Array.from(text.replace(/\s+/g, ' '), (character) => CHARACTERS[character] ?? character).join('');
}

/**
 * The ladder as a `table` that needs the package booktabs alone: an arm a row, a mean with its mark and interval a metric, then failed and stopped arms, and
 * what the table decides and the legend below. The name of the baseline is in italics.
 */
export function renderLatex(result: ExperimentResult): string {
  const table = buildLadderTable(result);
  const { name, hash, dataset } = result;
  const lines = [
    '% \\usepackage{booktabs}',
    '\\begin{table}',
    '\\centering',
    `\\caption{${escapeLatex(`${name} on ${dataset.name}, ${dataset.split}`)}}`,
    `\\label{tab:${name.replace(/[^A-Za-z0-9]+/g, '-')}}`,
    `\\begin{tabular}{l${'r@{ }l'.repeat(table.metrics.length)}}`,
    '\\toprule',
    formatLatexRow(['arm', ...table.metrics.map((metric) => `\\multicolumn{2}{c}{${escapeLatex(metric)}}`)]),
    '\\midrule',
    ...table.rows.map(formatLatexArm),
    ...formatLatexAbsent(table),
    '\\bottomrule',
    '\\end{tabular}',
    '',
    '\\smallskip',
    `{\\footnotesize ${[...table.decision, ...table.legend, ...table.notes].map(escapeLatex).join(' \\\\\n')} \\\\`,
    `${escapeLatex(`Experiment ${name} (${hash}).`)}\\par}`,
    '\\end{table}',
  ];
  return `${lines.join('\n')}\n`;
}

export function formatLatexRow(cells: readonly string[]): string {
  return `${cells.join(' & ')} \\\\`;
}

function formatLatexArm({ arm, isBaseline, control, cells }: LadderRow): string {
  const name = `${control === null ? '' : '\\quad '}${isBaseline ? `\\emph{${escapeLatex(arm)}}` : guardLatexRow(arm)}`;
  const figures = cells.flatMap(({ value, verdict, interval }) => [
    `${value}${LATEX_MARKS[verdict]}`,
    interval === '' ? '' : `{\\footnotesize ${escapeLatex(interval)}}`,
  ]);
  return formatLatexRow([name, ...figures]);
}

/** A bracket or star at the start of a row would be read as the argument of the line break before it. */
export function guardLatexRow(arm: string): string {
  return /^[[*]/.test(arm) ? `{}${escapeLatex(arm)}` : escapeLatex(arm);
}

function formatLatexAbsent({ absent, metrics }: LadderTable): string[] {
  if (absent.length === 0) return [];
  const lines = absent.map(({ arm, kind }) =>
    formatLatexRow([guardLatexRow(arm), `\\multicolumn{${2 * metrics.length}}{l}{\\emph{${kind}}}`]),
  );
  return ['\\midrule', ...lines];
}
