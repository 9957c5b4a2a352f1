import { Command, InvalidArgumentError, Option } from 'commander';
import { PACKING_NAMES } from '../context/packing.ts';
import { TOKEN_COUNTERS } from '../text/token-counter-names.ts';
import { lazyAction } from './lazy-action.ts';
import { cacheOption, collect, createBackendOption } from './options.ts';

function parseBudget(text: string): number {
  const tokens = Number(text);
  if (!Number.isSafeInteger(tokens) || tokens < 1)
    throw new InvalidArgumentError('not a whole number of tokens from 1.');
  return tokens;
}

export function askCommand(): Command {
  return new Command('ask')
    .description('ask one arm of a config a question: the prompt that a model would be shown, and why')
    .argument('<config>', 'a YAML file, such as configs/quickstart.yaml')
    .argument('<question>', 'in quotes')
    .requiredOption('--arm <name>', 'the arm that is asked')
    .option('--set <path=value>', 'override one value of the config (repeatable)', collect, [])
    .option('--dataset <name>', 'of a config with several datasets, this one')
    .option('--budget <tokens>', 'tokens of all turns in the prompt', parseBudget, 2000)
    .addOption(
      new Option(
        '--packing <method>',
        'in order until one does not fit, the largest sum of scores, or by score per token',
      )
        .choices(PACKING_NAMES)
        .default('in-order'),
    )
    .addOption(new Option('--tokens <counter>', 'what a token is').choices([...TOKEN_COUNTERS]).default('characters/4'))
    .option('--as-of <time>', 'the moment of the question, ISO 8601 (default: after the newest turn)')
    .option('--author <name>', 'who asks the question')
    .option('--channel <name>', 'where the question is asked')
    .option('--conversation <id>', 'only turns of this conversation')
    .option('--anchor <turn>', 'the turn that the question follows')
    .addOption(new Option('--format <format>', 'text, or everything as json').choices(['text', 'json']).default('text'))
    .addOption(createBackendOption())
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Examples:
  ragpp ask configs/quickstart.yaml --arm bm25 "Who reported the problem with the mail server?"
  ragpp ask configs/quickstart.yaml --arm hybrid "Which kernel was it?" --budget 500 --tokens o200k_base --format json`,
    )
    .action(lazyAction(async () => (await import('./actions/ask.ts')).ask));
}
