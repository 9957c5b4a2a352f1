import { Command, Option } from 'commander';
import { splitMetricList } from '../eval/metrics/metric.ts';
import { TESTS } from '../eval/significance/multiple-comparisons.ts';
import { lazyAction } from './options/options.ts';

function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

export function compareCommand(): Command {
  return new Command('compare')
    .description('two stored runs side by side: what differs in their configs, and in the arms that both have')
    .argument('<run>', 'the folder of the first run, A')
    .argument('[other-run]', 'the folder of the second run, B; needed without --all-pairs')
    .option('--all-pairs', 'compare every pair of arms, of one run or of both, and print letters', false)
    .option('--metrics <list>', 'with --all-pairs: metrics, with commas between them (default: all)', splitMetricList)
    .option('--arm <name>', 'with --all-pairs: an arm to compare (repeatable; default: all but null controls)', collect)
    .addOption(new Option('--test <name>', 'with --all-pairs: the paired test').choices(TESTS).default('permutation'))
    .option('--markdown', 'print Markdown', false)
    .addOption(new Option('--latex', 'with --all-pairs: print LaTeX').default(false).conflicts('markdown'))
    .addOption(new Option('--html <file>', 'write a page as well, one file that works offline').conflicts('allPairs'))
    .addHelpText(
      'after',
      `
Arms are compared by name, query by query, clustered by conversation, corrected over the arms; that is done only where
both runs saw the same data and the same queries, and a metric means the same in both. Else it says
what stands in the way.

With --all-pairs a superscript names each arm that an arm is better than, as in ranx, and arms that share a capital
letter are not distinguished (compact letter display). p is corrected by Holm over all pairs of a metric. Of arms with
several seeds the means over the seeds are tested, without the variance between seeds.

Examples:
  ragpp compare results/runs/quickstart-3f9a1c200a1b results/runs/quickstart-77aa0be31c2d
  ragpp compare results/runs/a-1 results/runs/b-2 --html /tmp/comparison.html
  ragpp compare results/runs/quickstart-3f9a1c200a1b --all-pairs --metrics nDCG@10,RR@10 --latex`,
    )
    .action(lazyAction(async () => (await import('./actions/compare.ts')).compare));
}
