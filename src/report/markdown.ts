import type { ExperimentResult } from '../experiment/result.ts';
import type { LadderTable } from './table.ts';
import { ladderTable } from './table.ts';

/** The ladder for README and results pages: the arms, their differences from the baseline, the legend, and what made the numbers. */
export function renderMarkdown(result: ExperimentResult): string {
  const table = ladderTable(result);
  const parts = [
    pipeTable(armsOf(table)),
    `Differences from ${escapeMarkdown(table.baseline)}, with p:`,
    pipeTable(differencesOf(table)),
    table.legend.map(escapeMarkdown).join('\n'),
    provenance(result),
  ];
  return `${parts.join('\n\n')}\n`;
}

function armsOf(table: LadderTable): string[][] {
  const rows = table.rows.map((row) => [
    escapeMarkdown(row.arm) + (row.isBaseline ? ' (baseline)' : ''),
    ...row.cells.map((cell) => [cell.value, cell.interval, cell.mark].filter(Boolean).join(' ')),
    String(row.holes),
  ]);
  return [['arm', ...table.metrics.map(escapeMarkdown), 'unjudged'], ...rows];
}

function differencesOf(table: LadderTable): string[][] {
  const rows = table.rows
    .filter((row) => !row.isBaseline)
    .map((row) => [
      escapeMarkdown(row.arm),
      ...row.cells.map(({ comparison, mark }) =>
        comparison === null
          ? ''
          : [comparison.difference, `${comparison.interval},`, `p ${comparison.p}`, mark].filter(Boolean).join(' '),
      ),
    ]);
  return [['arm', ...table.metrics.map(escapeMarkdown)], ...rows];
}

/** Padded, so that the source reads as a table too. */
function pipeTable(rows: readonly (readonly string[])[]): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, at) => Math.max(3, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}

function provenance({ name, hash, dataset, environment }: ExperimentResult): string {
  const { version, commit, backend, machine, seed, command } = environment;
  return escapeMarkdown(
    `Experiment ${name} (${hash}) on ${dataset.name} ${dataset.split}; version ${version}, commit ${commit}, backend ${backend}, ` +
      `${machine.cores} x ${machine.cpu}, seed ${seed}; ${command}`,
  );
}

/** A text as Markdown that shows it as it is, in one line. */
export function escapeMarkdown(text: string): string {
  return text.replace(/\s+/g, ' ').replace(/[\\|<>*_`[\]]/g, '\\$&');
}
