import { Command, InvalidArgumentError } from 'commander';
import { cacheOption, collect, lazyAction } from './options/options.ts';

function parseAmount(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !(number >= 0 && Number.isFinite(number)))
    throw new InvalidArgumentError('not a number from 0; give one such as 30.');
  return number;
}

function listCommand(): Command {
  return new Command('ls')
    .description('list what the cache holds: files, size, and when each stage was used')
    .addOption(cacheOption())
    .addHelpText(
      'after',
      '\nEmbeddings and datasets are shown with the time of writing, stages with that of their last use.',
    )
    .action(lazyAction(async () => (await import('./actions/cache.ts')).list));
}

function collectCommand(): Command {
  return new Command('gc')
    .description('delete results of stages from the cache, the least recently used ones first')
    .addOption(cacheOption())
    .option('--older-than <days>', 'files that were not used for this number of days', parseAmount)
    .option('--max-size <mib>', 'as much as is over this size, in MiB', parseAmount)
    .option('--stage <name>', 'only this stage (repeatable); without other limits all of it', collect, [])
    .option('--dry-run', 'only say what would be deleted')
    .addHelpText(
      'after',
      `
Embeddings and datasets stay unless they are named: --stage embeddings. Whatever is deleted is made again when it is
needed; a run that is under way is not harmed.

Examples:
  ragpp cache gc --older-than 30 --max-size 2048 --dry-run
  ragpp cache gc --stage propagated --stage log-masses`,
    )
    .action(lazyAction(async () => (await import('./actions/cache.ts')).collectGarbage));
}

export function cacheCommand(): Command {
  return new Command('cache')
    .description('look at what runs have kept for each other, and delete what is no longer needed')
    .addCommand(listCommand())
    .addCommand(collectCommand());
}
