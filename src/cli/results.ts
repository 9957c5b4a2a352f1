import { Command, InvalidArgumentError, Option } from 'commander';
import { RagPlusPlusError, ValidationError } from '../core/errors.ts';
import { printError, printOut } from '../core/terminal.ts';
import { type Field, type ResultRow, resultRows } from '../experiment/result-rows.ts';
import {
  assertFields,
  assertOrderable,
  type Condition,
  meets,
  parseCondition,
  sortedRows,
} from '../experiment/row-conditions.ts';
import { findRunFolders, type RunSummary, readRunSummary } from '../experiment/run-summary.ts';
import { csvText } from '../report/csv.ts';
import { decimal } from '../report/format.ts';
import { columns } from './columns.ts';

interface ResultsOptions {
  readonly where: Condition[];
  readonly sort?: string;
  readonly columns?: string[];
  readonly limit?: number;
  readonly csv: boolean;
  readonly json: boolean;
}

/** What can be read, and why the rest can't. */
function readRuns(root: string): { readonly runs: RunSummary[]; readonly leftOut: string[] } {
  const runs: RunSummary[] = [];
  const leftOut: string[] = [];
  for (const folder of findRunFolders(root)) {
    try {
      runs.push(readRunSummary(folder));
    } catch (error) {
      if (!(error instanceof RagPlusPlusError)) throw error;
      leftOut.push(error.message);
    }
  }
  return { runs, leftOut };
}

/** Run, arm, and the metrics that the rows have, the commonest first; six at most. */
function usualColumns(runs: readonly RunSummary[]): string[] {
  const counts = new Map<string, number>();
  for (const metric of runs.flatMap((run) => run.metrics)) counts.set(metric, (counts.get(metric) ?? 0) + 1);
  const metrics = [...counts].sort(([, a], [, b]) => b - a).map(([metric]) => metric);
  return ['experiment', 'hash', 'queries', 'arm', ...metrics.slice(0, 6)];
}

/** A column as it is printed: three decimals where one of its numbers needs them. */
function shownColumn(fields: readonly Field[]): string[] {
  const fractions = fields.some((field) => typeof field === 'number' && !Number.isInteger(field));
  return fields.map((field) => {
    if (field === null) return '—';
    return typeof field === 'number' && fractions ? decimal(field, 3) : String(field);
  });
}

function printRows(rows: readonly ResultRow[], fields: readonly string[], { csv, json }: ResultsOptions): void {
  const cells = rows.map((row) => fields.map((field) => row.get(field) ?? null));
  if (csv) printOut(csvText([fields, ...cells.map((row) => row.map(plainValue))]));
  else if (json)
    printOut(
      `${JSON.stringify(
        cells.map((row) => asObject(fields, row)),
        null,
        2,
      )}\n`,
    );
  else {
    const printed = fields.map((_, at) => shownColumn(cells.map((row) => row[at] ?? null)));
    printOut(`${columns([fields, ...cells.map((_, row) => printed.map((column) => column[row] ?? ''))])}\n`);
  }
}

function plainValue(field: Field): string | number | null {
  return typeof field === 'boolean' ? String(field) : field;
}

function asObject(fields: readonly string[], row: readonly Field[]): Record<string, Field> {
  return Object.fromEntries(fields.map((field, at) => [field, row[at] ?? null]));
}

function results(root: string, options: ResultsOptions): void {
  const { runs, leftOut } = readRuns(root);
  for (const reason of leftOut) printError(`left out: ${reason}\n`);
  if (runs.length === 0) throw new ValidationError(`folder holds no run: ${root}`, { root });
  const all = runs.flatMap(resultRows);
  const { where: conditions } = options;
  const fields = options.columns ?? usualColumns(runs);
  assertFields([...conditions.map(({ field }) => field), ...fields], all);
  for (const condition of conditions) assertOrderable(condition, all);
  const sorted = options.sort === undefined ? all : sortedRows(all, options.sort);
  const kept = sorted.filter((row) => conditions.every((condition) => meets(row, condition)));
  const listed = kept.slice(0, options.limit);
  printRows(listed, fields, options);
  if (!options.csv && !options.json) printError(`${listed.length} of ${all.length} arms in ${runs.length} runs\n`);
}

function collectCondition(text: string, earlier: Condition[]): Condition[] {
  try {
    return [...earlier, parseCondition(text)];
  } catch (error) {
    throw error instanceof ValidationError ? new InvalidArgumentError(error.message) : error;
  }
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!(Number.isInteger(limit) && limit > 0)) throw new InvalidArgumentError('a limit is a whole number from 1.');
  return limit;
}

export function resultsCommand(): Command {
  return new Command('results')
    .description('a table over the arms of all stored runs, filtered and sorted')
    .argument('[folder]', 'where the runs are kept, published ones as well', 'results/runs')
    .option(
      '--where <condition>',
      'keep the arms that meet it: =, !=, <, <=, >, >=, or ~ for contains (repeatable)',
      collectCondition,
      [],
    )
    .option('--sort <field>', 'by a field, the greatest number or the first word on top; -<field> turns it round')
    .option('--columns <fields>', 'what to print, with commas between', (list) => list.split(','))
    .option('--limit <count>', 'print so many arms at most', parseLimit)
    .option('--csv', 'print CSV, numbers with all digits', false)
    .addOption(new Option('--json', 'print JSON, numbers with all digits').default(false).conflicts('csv'))
    .addHelpText(
      'after',
      `
Fields: run, experiment, hash, dataset, split, data, queries, version, commit, backend, cpu, seed, command, arm, status,
baseline, control, unjudged, message, every metric with its .low, .high, .difference, .p and .verdict, level.<factor> of
a sweep, tuned.<path>. A field that no run has is an error.

Examples:
  ragpp results --where experiment=quickstart --where 'arm~decay' --sort mrr@10
  ragpp results results --columns experiment,arm,mrr@10,mrr@10.low,mrr@10.high --csv`,
    )
    .action(results);
}
