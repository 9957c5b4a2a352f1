import { join } from 'node:path';
import { Command } from 'commander';
import { cacheOption, createBackendOption } from '../../src/cli/options/options.ts';
import { assertWritableFolder } from '../../src/core/files/files.ts';
import { type BackendChoice, useBackend } from '../../src/core/tensors/backend.ts';
import { createTerminalProgress } from '../../src/core/terminal/progress.ts';
import { parse } from '../../src/core/validation/validation.ts';
import { writeRunFolder } from '../../src/lab/run/run-folder.ts';
import { measureFindings, NAME } from './experiment.ts';
import { buildFindingsFiles } from './files.ts';
import { findingsSettings } from './settings.ts';

interface Options {
  readonly backend: BackendChoice;
  readonly cache: string;
  readonly results: string;
  readonly data?: string;
  readonly seed?: string;
  readonly sampledMessages?: string;
}

/** The given settings; a value that is not a number stays a text, for the schema to check. */
function readFindingsSettings({ data, seed, sampledMessages }: Options): unknown {
  const given = Object.entries({ seed, sampledMessages }).filter(([, text]) => text !== undefined);
  const numbers = given.map(([name, text]) => [name, Number.isNaN(Number(text)) ? text : Number(text)]);
  return { ...Object.fromEntries(numbers), ...(data === undefined ? {} : { dataset: { name: 'jsonl', path: data } }) };
}

async function run(options: Options, args: readonly string[]): Promise<void> {
  const settings = parse(findingsSettings, readFindingsSettings(options), 'the options');
  const backend = await useBackend(options.backend);
  for (const folder of [options.results, options.cache]) assertWritableFolder(folder);
  const result = await measureFindings(settings, {
    backend,
    cacheFolder: options.cache,
    command: ['npm run experiment --', NAME, ...args].join(' '),
    progress: createTerminalProgress(),
  });
  const folder = join(options.results, `${NAME}-${result.hash}`);
  const files = buildFindingsFiles(result);
  writeRunFolder(folder, files);
  process.stdout.write(`\n${files['table.md']}\nrun folder: ${folder}\n`);
}

/** @throws CommanderError for wrong usage, ConfigurationError for settings that cannot be. */
export async function runFindings(args: readonly string[]): Promise<void> {
  const command = new Command(NAME)
    .description('measures on conversations where the papers on ring attention and conservation contradict themselves')
    .addOption(createBackendOption().default('auto'))
    .addOption(cacheOption())
    .option('--results <folder>', 'where the run folder is made', 'results/runs')
    .option('--data <folder>', 'your own conversations: a folder with turns.jsonl, queries.jsonl and qrels.txt')
    .option('--seed <number>', 'of the encoder')
    .option('--sampled-messages <number>', 'messages of a long conversation whose attention is looked at (201)')
    .exitOverride()
    .action((options: Options) => run(options, args));
  await command.parseAsync([...args], { from: 'user' });
}
