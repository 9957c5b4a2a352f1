import { z } from 'zod';
import { RagPlusPlusError, ValidationError } from '../../core/errors/errors.ts';
import { writeAtomic } from '../../core/files/files.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { printError, printOut } from '../../core/terminal/progress.ts';
import { parseOrNull } from '../../core/validation/validation.ts';
import type { Plain } from '../../lab/composition/config-file.ts';
import { type ChosenTableFormat, renderChosenTable } from '../../lab/report/tables/chosen-table.ts';
import { formatCsv } from '../../lab/report/tables/csv.ts';
import { formatDecimal } from '../../lab/report/tables/format.ts';
import {
  assertFields,
  assertOrderable,
  type Condition,
  type Field,
  listResultRows,
  meetsCondition,
  type ResultRow,
  sortRowsByField,
  translateField,
} from '../../lab/stored/result-rows.ts';
import { readRunFigures } from '../../lab/stored/run-figures.ts';
import { findRunFolders, type RunSummary, readRunConfig, readRunSummary } from '../../lab/stored/run-summary.ts';
import { alignColumns } from '../process/columns.ts';

interface TableFlags {
  readonly arms?: string;
  readonly columns?: readonly string[];
  readonly digits?: number;
  readonly format: ChosenTableFormat;
  readonly out?: string;
}

export function printTable(folder: string, { arms, columns, digits, format, out }: TableFlags): void {
  const choice = { arms: arms ?? null, columns: columns ?? null, digits: digits ?? null };
  const table = renderChosenTable(readRunFigures(folder), choice, format);
  if (out === undefined) {
    printOut(table);
    return;
  }
  writeAtomic(out, table);
  printError(`table: ${out}\n`);
}

const DRAWN = z.object({
  evaluation: z.object({
    limitQueries: z.number().nullable().default(null),
    share: z.number().default(1),
  }),
});

/** Describes how a part of the queries was drawn; null for all of them. */
function describeQueryDraw(config: Plain, seed: number) {
  const drawn = parseOrNull(DRAWN, config);
  if (drawn === null) return null;
  const { limitQueries, share } = drawn.evaluation;
  return limitQueries === null && share === 1 ? null : { limitQueries, share, seed };
}

/**
 * Identity of the queries that a stored run is measured on. Figures of two runs may be ranked together only if it is
 * the same.
 *
 * @param config of the run.
 */
export function computeQuerySetHash({ dataset, queries, environment }: RunSummary, config: Plain): string {
  return computeHash([dataset.hash, dataset.split, queries, describeQueryDraw(config, environment.seed)]);
}

interface ResultsOptions {
  readonly where: Condition[];
  readonly sort?: string;
  readonly mixQuerySets: boolean;
  readonly columns?: string[];
  readonly limit?: number;
  readonly csv: boolean;
  readonly json: boolean;
}

/** A stored run, and the identity of its queries. */
interface FoundRun {
  readonly summary: RunSummary;
  readonly querySet: string;
}

/** The readable runs, and the errors of the others. */
function readRuns(root: string): { readonly runs: FoundRun[]; readonly leftOut: string[] } {
  const runs: FoundRun[] = [];
  const leftOut: string[] = [];
  for (const folder of findRunFolders(root)) {
    try {
      const summary = readRunSummary(folder);
      runs.push({ summary, querySet: computeQuerySetHash(summary, readRunConfig(folder)) });
    } catch (error) {
      if (!(error instanceof RagPlusPlusError)) throw error;
      leftOut.push(error.message);
    }
  }
  return { runs, leftOut };
}

/** Run, queries, arm, and the metrics that the rows have, the commonest first; six at most. */
function listUsualColumns(runs: readonly FoundRun[]): string[] {
  const counts = new Map<string, number>();
  for (const metric of runs.flatMap(({ summary }) => summary.metrics))
    counts.set(metric, (counts.get(metric) ?? 0) + 1);
  const metrics = [...counts].sort(([, a], [, b]) => b - a).map(([metric]) => metric);
  return ['experiment', 'hash', 'date', 'dataset', 'split', 'queries', 'arm', ...metrics.slice(0, 6)];
}

/** The texts of a column: three decimals if one of its numbers needs them, dates as days. */
function formatShownColumn(name: string, fields: readonly Field[]): string[] {
  if (name === 'date') return fields.map((field) => (field === null ? '—' : String(field).slice(0, 10)));
  const fractions = fields.some((field) => typeof field === 'number' && !Number.isInteger(field));
  return fields.map((field) => {
    if (field === null) return '—';
    return typeof field === 'number' && fractions ? formatDecimal(field, 3) : String(field);
  });
}

/** @param groups are printed below each other, with an empty line between two where people read them. */
function printRows(
  groups: readonly (readonly ResultRow[])[],
  fields: readonly string[],
  { csv, json }: ResultsOptions,
): void {
  const cells = groups.flat().map((row) => fields.map((field) => row.get(field) ?? null));
  if (csv) printOut(formatCsv([fields, ...cells.map((row) => row.map(toPlainValue))]));
  else if (json)
    printOut(
      `${JSON.stringify(
        cells.map((row) => zipFields(fields, row)),
        null,
        2,
      )}\n`,
    );
  else {
    const printed = fields.map((field, at) =>
      formatShownColumn(
        field,
        cells.map((row) => row[at] ?? null),
      ),
    );
    const [heading, ...lines] = alignColumns([
      fields,
      ...cells.map((_, row) => printed.map((column) => column[row] ?? '')),
    ]).split('\n');
    const blocks = groups.map((group) =>
      lines
        .splice(0, group.length)
        .map((line) => `${line}\n`)
        .join(''),
    );
    printOut(`${heading}\n${blocks.join('\n')}`);
  }
}

function toPlainValue(field: Field): string | number | null {
  return typeof field === 'boolean' ? String(field) : field;
}

function zipFields(fields: readonly string[], row: readonly Field[]): Record<string, Field> {
  return Object.fromEntries(fields.map((field, at) => [field, row[at] ?? null]));
}

/** True if an order by a field ranks arms by quality. */
function isFigure(sort: string, runs: readonly FoundRun[]): boolean {
  const field = sort.replace(/^-/, '');
  return runs.some(({ summary }) =>
    summary.metrics.some((metric) => field === metric || field.startsWith(`${metric}.`)),
  );
}

/** The rows in their order; one group per query set if figures of different queries would be ranked otherwise. */
function groupResultRows(
  rows: readonly ResultRow[],
  setOf: ReadonlyMap<ResultRow, string>,
  runs: readonly FoundRun[],
  { sort, mixQuerySets }: ResultsOptions,
): ResultRow[][] {
  if (sort === undefined) return [[...rows]];
  const sorted = sortRowsByField(rows, sort);
  if (mixQuerySets || !isFigure(sort, runs)) return [sorted];
  const sets = new Set(rows.map((row) => setOf.get(row)));
  return [...sets].map((set) => sorted.filter((row) => setOf.get(row) === set));
}

function formatListSummary(listed: number, all: number, runs: number, groups: number): string {
  const counted = `${listed} of ${all} arms in ${runs} runs`;
  if (groups < 2) return counted;
  return `${counted}; ${groups} query sets, each sorted by itself: --mix-query-sets sorts them together`;
}

/** The options with every field by the name that the rows have. */
function translateFields(options: ResultsOptions, rows: readonly ResultRow[]): ResultsOptions {
  const { where, sort, columns } = options;
  return {
    ...options,
    where: where.map((condition) => ({ ...condition, field: translateField(condition.field, rows) })),
    ...(columns === undefined ? {} : { columns: columns.map((field) => translateField(field, rows)) }),
    ...(sort === undefined
      ? {}
      : { sort: sort.replace(/^(-?)(.*)$/s, (_, turn, by) => turn + translateField(by, rows)) }),
  };
}

export function printResults(root: string, written: ResultsOptions): void {
  const { runs, leftOut } = readRuns(root);
  for (const reason of leftOut) printError(`left out: ${reason}\n`);
  if (runs.length === 0)
    throw new ValidationError(`folder has no run: ${root}; name a results folder, or run an experiment`, { root });
  const setOf = new Map(
    runs.flatMap(({ summary, querySet }) => listResultRows(summary).map((row) => [row, querySet] as const)),
  );
  const all = [...setOf.keys()];
  const options = translateFields(written, all);
  const { where: conditions, sort } = options;
  const fields = options.columns ?? listUsualColumns(runs);
  const sortField = sort === undefined ? [] : [sort.replace(/^-/, '')];
  assertFields([...conditions.map(({ field }) => field), ...fields, ...sortField], all);
  for (const condition of conditions) assertOrderable(condition, all);
  const kept = all.filter((row) => conditions.every((condition) => meetsCondition(row, condition)));
  const groups = groupResultRows(kept, setOf, runs, options).map((group) => group.slice(0, options.limit));
  printRows(groups, fields, options);
  const listed = groups.flat().length;
  if (!options.csv && !options.json)
    printError(`${formatListSummary(listed, all.length, runs.length, groups.length)}\n`);
}
