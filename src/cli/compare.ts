import { Command } from 'commander';
import { lazyAction } from './lazy-action.ts';

export function compareCommand(): Command {
  return new Command('compare')
    .description('two stored runs side by side: what differs in their configs, and in the arms that both have')
    .argument('<run>', 'the folder of the first run, A')
    .argument('<other-run>', 'the folder of the second run, B')
    .option('--markdown', 'print Markdown', false)
    .option('--html <file>', 'write a page as well, one file that works offline')
    .addHelpText(
      'after',
      `
Arms are compared by name, query by query, clustered by conversation, corrected over the arms; that is done only where
both runs saw the same data and the same queries, and a metric means the same in both. Else it says
what stands in the way.

Examples:
  ragpp compare results/runs/quickstart-3f9a1c200a1b results/runs/quickstart-77aa0be31c2d
  ragpp compare results/runs/a-1 results/runs/b-2 --html /tmp/comparison.html`,
    )
    .action(lazyAction(async () => (await import('./actions/compare.ts')).compare));
}
