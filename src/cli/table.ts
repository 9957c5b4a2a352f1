import { Command, InvalidArgumentError, Option } from 'commander';
import { splitMetricList } from '../eval/metrics/metric.ts';
import { lazyAction } from './options/options.ts';

function parseDigits(text: string): number {
  const digits = Number(text);
  if (!(Number.isInteger(digits) && digits >= 1 && digits <= 10))
    throw new InvalidArgumentError('not a whole number from 1 to 10; give the digits after the point.');
  return digits;
}

export function tableCommand(): Command {
  return new Command('table')
    .description('a table of chosen arms and columns from a finished run or training, for a paper')
    .argument('<run-folder>', 'such as results/runs/quickstart-3f9a1c20, a published or a rescored run, or a training')
    .option('--arms <list>', 'arms with commas between them, in the order of the rows (default: all)')
    .option(
      '--columns <list>',
      'columns with commas between them (default: mean and interval of every metric)',
      splitMetricList,
    )
    .option('--digits <count>', 'digits after the point (default: 3, in CSV all); p has three', parseDigits)
    .addOption(
      new Option('--format <name>', 'the format of the table')
        .choices(['latex', 'markdown', 'csv'])
        .default('markdown'),
    )
    .option('--out <file>', 'write the table to a file instead of printing it')
    .addHelpText(
      'after',
      `
Columns: a metric of the run is its mean. After a metric: interval, difference, difference-interval, p, effect-size,
minimum-detectable, wins/ties/losses. A statistic of any metric: mrr@10.p. Of an arm: unjudged.

The arms of a training are the ways to choose its numbers, such as learned.
The figures are those of the run: p stays corrected over all of its arms. Measure by other metrics with ragpp rescore.

Examples:
  ragpp table results/quickstart --columns mrr@10,interval,p
  ragpp table results/quickstart --arms 'bm25,cosine,hybrid' --columns mrr@10,difference,p --format latex --out t.tex
  ragpp table results/quickstart --columns nDCG@10,effect-size,minimum-detectable,unjudged --digits 2`,
    )
    .action(lazyAction(async () => (await import('./actions/results.ts')).printTable));
}
