import { Command, InvalidArgumentError, Option } from 'commander';
import { splitMetricList } from '../eval/metrics/metric.ts';
import { CORRECTIONS, TESTS } from '../eval/significance/multiple-comparisons.ts';
import { lazyAction } from './options/options.ts';

function parseGrade(text: string): number {
  const grade = Number(text);
  if (!(grade > 0 && Number.isFinite(grade)))
    throw new InvalidArgumentError('not a number above 0; give the lowest relevant grade.');
  return grade;
}

export function rescoreCommand(): Command {
  return new Command('rescore')
    .description("measure a finished run's rankings by other definitions, without running it again")
    .argument('<run folder>', 'such as results/runs/quickstart-3f9a1c20')
    .requiredOption('--metrics <list>', 'metrics, with commas between them', splitMetricList)
    .addOption(
      new Option(
        '--relevant-grade <grade>',
        "the least grade that counts as relevant (default: the dataset's)",
      ).argParser(parseGrade),
    )
    .option('--judged-only', 'take unjudged turns out of the rankings first', false)
    .addOption(
      new Option(
        '--split-unanswerable <how>',
        'queries without a relevant turn: count them, with 0 but for ndcg of lower grades, or keep them apart',
      )
        .choices(['count', 'apart'])
        .default('apart'),
    )
    .option('--baseline <arm>', "what the arms are compared with (default: the run's)")
    .addOption(
      new Option('--granularity <what>', 'what a hit is: a relevant turn, or any turn of its conversation')
        .choices(['turn', 'conversation'])
        .default('turn'),
    )
    .addOption(new Option('--test <name>', 'the paired test').choices(TESTS).default('permutation'))
    .addOption(
      new Option('--correction <name>', 'for comparing several arms').choices(Object.keys(CORRECTIONS)).default('holm'),
    )
    .addHelpText(
      'after',
      `
Prints the table and leaves it as table.md, .tex and .csv with metrics.json in
<run folder>/rescored/<name of the definitions>/.

Examples:
  ragpp rescore results/runs/quickstart-3f9a1c20 --metrics mrr@5,nDCG@20
  ragpp rescore results/runs/quickstart-3f9a1c20 --metrics 'recall@500t,all@500t,rbp(0.8)'
  ragpp rescore results/runs/quickstart-3f9a1c20 --metrics recall@10 --relevant-grade 1 --granularity conversation
  ragpp rescore results/runs/quickstart-3f9a1c20 --metrics ndcg@10 --judged-only --baseline bm25`,
    )
    .action(lazyAction(async () => (await import('./actions/rescore.ts')).run));
}
