import { Command } from 'commander';
import { lazyAction } from './options/options.ts';

export function publishCommand(): Command {
  return new Command('publish')
    .description(
      "copy a run's config, environment, metrics, strata, tables (.md, .tex, .csv) and weights to results/, and its tables into a document",
    )
    .argument('<run-folder>', 'results/runs/<experiment>-<hash>')
    .option(
      '--document <file>',
      'Markdown with the lines <!-- results/<experiment>/table.md --> and <!-- end of table -->, and so for a test.md',
      'README.md',
    )
    .option('--results <folder>', 'where published runs are kept', 'results')
    .action(lazyAction(async () => (await import('./actions/publish.ts')).publish));
}
