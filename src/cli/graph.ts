import { Command } from 'commander';
import { cacheOption, collect, lazyAction, parseCount } from './options/options.ts';

function extractCommand(): Command {
  return new Command('extract')
    .description('have a model behind a service with the interface of OpenAI extract concepts and triples of the turns')
    .argument('<config>', 'a YAML file with the dataset; its arms are not read')
    .requiredOption('--base-url <url>', 'the address before /chat/completions, such as http://localhost:11434/v1')
    .requiredOption('--model <name>', 'the model that reads the turns')
    .requiredOption('--out <file>', 'the file of concepts to write, JSONL; a file of an interrupted call is continued')
    .option('--api-key-variable <name>', 'the environment variable that holds the key; without it no key is sent')
    .option('--batch-size <n>', 'turns in a request (default: 8)', parseCount)
    .option('--limit-turns <n>', 'stop when the first n turns have concepts', parseCount)
    .option(
      '--service <option=value>',
      'maxAttempts, pauseSeconds, timeoutSeconds, pricePerMillionTokens (repeatable)',
      collect,
      [],
    )
    .option('--set <path=value>', 'override one value of the config (repeatable)', collect, [])
    .option('--dataset <name>', 'of a config with several datasets, this one')
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Sensitive turns are not sent. A source of candidates then names the file:
  { index: graph, concepts: { file: concepts.jsonl } }

Example:
  ragpp graph extract chats.yaml --base-url http://localhost:11434/v1 --model m-7b --limit-turns 40 --out concepts.jsonl`,
    )
    .action(lazyAction(async () => (await import('./actions/graph-extract.ts')).runGraphExtract));
}

export function graphCommand(): Command {
  return new Command('graph').description('prepare files for the concept graph').addCommand(extractCommand());
}
