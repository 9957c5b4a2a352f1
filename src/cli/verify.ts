import { Command } from 'commander';
import { TOPICS } from '../verification/verify.ts';
import { lazyAction } from './lazy-action.ts';
import { createBackendOption } from './options.ts';

const names = TOPICS.map(({ name }) => name);
/** Where the line of names is broken. */
const half = Math.ceil(names.length / 2);

export function verifyCommand(): Command {
  return new Command('verify')
    .description('compute every golden case on a backend and compare with values from independent programs')
    .addOption(createBackendOption().default('auto'))
    .option('--golden <folder>', 'a folder of golden files (*.json) instead of the own ones')
    .addHelpText(
      'after',
      `\nTopics: ${names.slice(0, half).join(', ')},\n  ${names.slice(half).join(', ')}.\nExits with 1 when a topic fails or is not known.`,
    )
    .action(lazyAction(async () => (await import('./actions/verify.ts')).run));
}
