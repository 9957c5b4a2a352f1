import { Command } from 'commander';
import { cacheOption, collect, lazyAction } from './options/options.ts';

export function createDataCommand(): Command {
  return new Command('data')
    .description('the datasets, where each comes from and what it takes; with a name, load it and tell what is in it')
    .argument('[name]', 'the dataset to load; without it all of them are listed')
    .option('--set <option=value>', 'an option of the dataset (repeatable)', collect, [])
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Examples:
  ragpp data
  ragpp data spamassassin-threads
  ragpp data locomo --set path=locomo10.json --set 'categories=[temporal]'`,
    )
    .action(lazyAction(async () => (await import('./actions/data.ts')).runDataCommand));
}
