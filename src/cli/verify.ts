import { Command } from 'commander';
import { TOPICS } from '../lab/verification/verify.ts';
import { createBackendOption, lazyAction } from './options/options.ts';

const names = TOPICS.map(({ name }) => name);
/** Names on a line. */
const WIDE = 8;
const lines = Array.from({ length: Math.ceil(names.length / WIDE) }, (_, line) =>
  names.slice(WIDE * line, WIDE * (line + 1)).join(', '),
);

export function verifyCommand(): Command {
  return new Command('verify')
    .description('compute every golden case on a backend and compare with values from independent programs')
    .addOption(createBackendOption().default('auto'))
    .option('--golden <folder>', 'a folder of golden files (*.json) instead of the own ones')
    .addHelpText('after', `\nTopics: ${lines.join(',\n  ')}.\nExits with 1 when a topic fails or is not known.`)
    .action(lazyAction(async () => (await import('./actions/verify.ts')).run));
}
