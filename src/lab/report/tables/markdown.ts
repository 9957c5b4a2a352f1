import type { ArmConservation } from '../../measure/conservation.ts';
import { type ArmResult, type ExperimentResult, type Fitted, isFitted } from '../../measure/result.ts';
import { formatControlsMarkdown, formatImportanceMarkdown, formatSelectionMarkdown } from '../page/fit-sections.ts';
import { buildUsersLadder, describeTransfers, describeUsers, listTransferRows, searchSentences } from './fit-table.ts';
import { escapeMarkdown, formatLadderMarkdown, formatRowsAsPipeTable } from './pipe-table.ts';
import {
  CONSERVATION_HEADINGS,
  describeConservation,
  describeLatency,
  describePlacebos,
  describeStructureReach,
  listConservationRows,
  listCurves,
  listEvidenceRows,
  listLatencyRows,
  listStepRows,
  listStructureRows,
  STEP_HEADINGS,
  STEP_LEGEND,
  SURVIVES,
} from './side-tables.ts';
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
 * The ladder as a `table` that needs the package booktabs alone: an arm a row, a mean with its mark and interval a
 * metric, then failed and stopped arms, and what the table decides and the legend below. The name of the baseline is in
 * italics.
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

/** The ladder for README and results pages: the arms, their differences from the baseline, the legend, and what made the numbers. */
export function renderMarkdown(result: ExperimentResult): string {
  const table = buildLadderTable(result);
  const parts = [
    ...formatLadderMarkdown(table),
    ...buildStructureLines(result),
    [...table.legend, ...(isFitted(result) ? searchSentences(result.fit, result.baseline) : [])]
      .map(escapeMarkdown)
      .join('\n'),
    ...(table.notes.length === 0 ? [] : [table.notes.map((note) => `* ${escapeMarkdown(note)}`).join('\n')]),
    ...buildEvidenceLines(result),
    ...(result.arms[0]?.conservation ? buildConservationLines(result.arms, result.arms[0].conservation) : []),
    ...buildStepLines(result),
    ...buildLatencyLines(result),
    ...(isFitted(result) ? buildFitLines(result) : []),
    formatProvenance(result),
  ];
  return `${parts.join('\n\n')}\n`;
}

/** The curves of the arms that have one. */
function buildEvidenceLines({ arms }: ExperimentResult): string[] {
  if (listCurves(arms).length === 0) return [];
  const rows = listEvidenceRows(arms).map(([arm = '', ...figures]) => [escapeMarkdown(arm), ...figures]);
  return [
    'Evidence within tokens; the area over the logarithm of tokens, and the area if the relevant turns of the ranking were packed first:',
    formatRowsAsPipeTable(rows),
  ];
}

/** The conservation of what the queries were shown, measured of all arms. */
function buildConservationLines(arms: readonly ArmResult[], measured: ArmConservation): string[] {
  const rows = listConservationRows(arms).map(({ cells }) => cells.map(({ text }) => escapeMarkdown(text)));
  return [describeConservation(measured), formatRowsAsPipeTable([[...CONSERVATION_HEADINGS], ...rows])];
}

/** The queries that the steps of the arms change. */
function buildStepLines({ arms }: ExperimentResult): string[] {
  const rows = listStepRows(arms).map((row) => row.map(escapeMarkdown));
  return rows.length === 0 ? [] : [STEP_LEGEND, formatRowsAsPipeTable([[...STEP_HEADINGS], ...rows])];
}

/** The times of the arms that were timed. */
function buildLatencyLines(result: ExperimentResult): string[] {
  if (result.arms.every(({ latency }) => latency === null)) return [];
  const note = describeLatency(result);
  const rows = listLatencyRows(result.arms).map((row) => row.map(escapeMarkdown));
  return ['Milliseconds a query by component:', formatRowsAsPipeTable(rows), ...(note === null ? [] : [note])];
}

/** The arms against their null controls; empty without controls. */
function buildStructureLines(result: ExperimentResult): string[] {
  const rows = listStructureRows(result).map(({ arm, control, cells }) => [
    escapeMarkdown(arm),
    control,
    ...cells.map(({ text }) => text),
  ]);
  if (rows.length === 0) return [];
  const head = ['arm', 'control', ...result.metrics.map(escapeMarkdown)];
  return [
    'Arms minus their null controls, with p:',
    formatRowsAsPipeTable([head, ...rows]),
    escapeMarkdown([SURVIVES, ...describePlacebos(result), ...describeStructureReach(result)].join(' ')),
  ];
}

/** The provenance of the numbers. */
function formatProvenance({ name, hash, dataset, environment }: ExperimentResult): string {
  const { version, commit, backend, machine, seed, command } = environment;
  return escapeMarkdown(
    `Experiment ${name} (${hash}) on ${dataset.name} ${dataset.split}; version ${version}, commit ${commit}, backend ${backend}, ` +
      `${machine.cores} x ${machine.cpu}, seed ${seed}; ${command}`,
  );
}

/** Parts below the table of arms as Markdown: null controls, families of signals, users, other data. */
function buildFitLines(result: Fitted): string[] {
  const { fit, users, remarks } = result;
  const ofUsers =
    users === undefined
      ? []
      : [
          'Weights of users:',
          ...formatLadderMarkdown(buildUsersLadder(result, users)),
          buildUsersLadder(result, users).legend.map(escapeMarkdown).join('\n'),
          escapeMarkdown(describeUsers(users)),
        ];
  const transfer =
    fit.transfer.length === 0
      ? []
      : [
          'Weights on other data:',
          formatRowsAsPipeTable(listTransferRows(result).map((row) => row.map(escapeMarkdown))),
          describeTransfers(result).map(escapeMarkdown).join('\n'),
        ];
  const sentences = remarks.map(escapeMarkdown).join('\n');
  const ofSignals = [...formatSelectionMarkdown(result), ...formatImportanceMarkdown(result)];
  return [...formatControlsMarkdown(result), ...ofSignals, ...ofUsers, ...transfer, sentences];
}
