import { Command, InvalidArgumentError } from 'commander';
import { lazyAction } from './options/options.ts';

function parseSeed(text: string): number {
  const seed = Number(text);
  if (!Number.isSafeInteger(seed)) throw new InvalidArgumentError('not a whole number; give a seed such as 1.');
  return seed;
}

export function initCommand(): Command {
  return new Command('init')
    .description('create a folder with a config and made-up conversations, ready to run')
    .argument('[folder]', 'a new or an empty folder', 'my-experiment')
    .option('--seed <number>', 'draws the made-up conversations', parseSeed, 1)
    .addHelpText(
      'after',
      `
Writes config.yaml, config.schema.json for editors, and a dataset of the kind jsonl in data: turns.jsonl,
queries.jsonl and qrels.txt. Replace these three files by your own conversations, queries and judgements.

Example:
  ragpp init my-experiment
  ragpp run my-experiment/config.yaml`,
    )
    .action(lazyAction(async () => (await import('./actions/init.ts')).init));
}
