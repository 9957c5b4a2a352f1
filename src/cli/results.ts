import { Command, InvalidArgumentError, Option } from 'commander';
import { ValidationError } from '../core/errors/errors.ts';
import { splitMetricList } from '../eval/metrics/metric.ts';
import { type Condition, parseCondition } from '../lab/stored/result-rows.ts';
import { lazyAction } from './options/options.ts';

function collectCondition(text: string, earlier: Condition[]): Condition[] {
  try {
    return [...earlier, parseCondition(text)];
  } catch (error) {
    throw error instanceof ValidationError ? new InvalidArgumentError(error.message) : error;
  }
}

function parseLimit(text: string): number {
  const limit = Number(text);
  if (!(Number.isInteger(limit) && limit > 0))
    throw new InvalidArgumentError('not a whole number from 1; give a number of rows.');
  return limit;
}

export function createResultsCommand(): Command {
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
    .option('--mix-query-sets', 'sort arms by a metric although they were measured on different queries', false)
    .option('--columns <fields>', 'what to print, with commas between', splitMetricList)
    .option('--limit <count>', 'print at most this number of arms; sorted by a metric, of each query set', parseLimit)
    .option('--csv', 'print CSV, numbers with all digits', false)
    .addOption(new Option('--json', 'print JSON, numbers with all digits').default(false).conflicts('csv'))
    .addHelpText(
      'after',
      `
Fields: run, experiment, hash, dataset, split, data, queries, version, commit, date, backend, cpu, seed, command, arm,
status, baseline, control, unjudged, message, every metric with its .low, .high, .difference, .p and .verdict,
level.<factor> of a sweep, tuned.<path>. A field that no run has is an error.

Arms that were measured on different queries cannot be ranked together. So --sort with a metric lists the arms of each
query set by themselves: the runs with the same data, split and number of queries.

Examples:
  ragpp results --where experiment=quickstart --where 'arm~decay' --sort mrr@10
  ragpp results results --columns experiment,arm,mrr@10,mrr@10.low,mrr@10.high --csv`,
    )
    .action(lazyAction(async () => (await import('./actions/results.ts')).printResults));
}
