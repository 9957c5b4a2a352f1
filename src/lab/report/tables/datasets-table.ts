import { type ExperimentResult, formatLook } from '../../measure/result.ts';
import { formatCsv } from './csv.ts';
import { formatDecimal } from './format.ts';
import { describeSeedMeans } from './legend.ts';
import { escapeMarkdown, formatRowsAsPipeTable } from './pipe-table.ts';
import { buildLadderTable, type LadderCell } from './table.ts';
import { alignLines } from './text-table.ts';

/** The result of an experiment on one of its datasets. */
export interface DatasetRun {
  readonly dataset: string;
  readonly result: ExperimentResult;
}

interface DatasetsRow {
  readonly arm: string;
  /** By dataset in their order; null where the arm has no figure. */
  readonly cells: readonly (LadderCell | null)[];
  /** The unweighted mean over the datasets; null if one lacks a figure. */
  readonly mean: number | null;
}

/** The arms of an experiment on several datasets. */
export interface DatasetsTable {
  readonly datasets: readonly string[];
  readonly metrics: readonly { readonly metric: string; readonly rows: readonly DatasetsRow[] }[];
  readonly legend: string;
}

/** @param runs of the same arms and metrics, at least one */
export function buildDatasetsTable(runs: readonly DatasetRun[]): DatasetsTable {
  const ladders = runs.map(({ result }) => buildLadderTable(result));
  const arms = [...new Set(ladders.flatMap(({ rows }) => rows.map(({ arm }) => arm)))];
  const metrics = (ladders[0]?.metrics ?? []).map((metric, m) => {
    const rows = arms.map((arm): DatasetsRow => {
      const cells = ladders.map(({ rows }) => rows.find((row) => row.arm === arm)?.cells[m] ?? null);
      const means = cells.flatMap((cell) => (cell === null ? [] : [cell.mean]));
      const mean = means.length < cells.length ? null : means.reduce((sum, one) => sum + one, 0) / means.length;
      return { arm, cells, mean };
    });
    return { metric, rows };
  });
  const baseline = ladders[0]?.baseline ?? '';
  const seeds = Math.max(1, ...runs.flatMap(({ result }) => result.arms.map((arm) => arm.seeds?.count ?? 1)));
  const verdicts = `▲ better, ▼ worse than ${baseline} by the test of that dataset's own table. Mean: over the datasets, each counted once.`;
  const looks = runs.flatMap(({ result: { look } }) => (look === undefined ? [] : [formatLook(look)]));
  const legend = [verdicts, ...(seeds === 1 ? [] : describeSeedMeans(seeds)), ...looks].join(' ');
  return { datasets: runs.map(({ dataset }) => dataset), metrics, legend };
}

function formatCell(cell: LadderCell | null): string {
  return cell === null ? '—' : `${cell.value}${cell.mark === '' ? '' : ` ${cell.mark}`}`;
}

function listTextRows({ datasets, metrics }: DatasetsTable, at: number): string[][] {
  const { metric, rows } = metrics[at] as DatasetsTable['metrics'][number];
  return [
    [metric, ...datasets, 'mean'],
    ...rows.map(({ arm, cells, mean }) => [
      arm,
      ...cells.map(formatCell),
      mean === null ? '—' : formatDecimal(mean, 3),
    ]),
  ];
}

/** A block a metric, for a terminal. */
export function renderDatasetsText(table: DatasetsTable): string {
  const blocks = table.metrics.map((_, at) => alignLines(listTextRows(table, at)).join('\n'));
  return [...blocks, table.legend].join('\n\n');
}

export function renderDatasetsMarkdown(table: DatasetsTable): string {
  const blocks = table.metrics.map((_, at) =>
    formatRowsAsPipeTable(listTextRows(table, at).map((row) => row.map(escapeMarkdown))),
  );
  return `${[...blocks, escapeMarkdown(table.legend)].join('\n\n')}\n`;
}

/** A row a metric, arm and dataset. */
export function renderDatasetsCsv({ datasets, metrics }: DatasetsTable): string {
  const rows = metrics.flatMap(({ metric, rows }) =>
    rows.flatMap(({ arm, cells, mean }) => [
      ...cells.map((cell, d) => [metric, arm, datasets[d], cell?.mean, cell?.verdict]),
      [metric, arm, 'mean', mean, null],
    ]),
  );
  return formatCsv([['metric', 'arm', 'dataset', 'mean', 'verdict'], ...rows]);
}
