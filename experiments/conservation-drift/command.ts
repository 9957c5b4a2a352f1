import { join } from 'node:path';
import { Command } from 'commander';
import { cacheOption, createBackendOption } from '../../src/cli/options/options.ts';
import { assertWritableFolder } from '../../src/core/files/files.ts';
import { type BackendChoice, useBackend } from '../../src/core/tensors/backend.ts';
import { createTerminalProgress } from '../../src/core/terminal/progress.ts';
import { parse } from '../../src/core/validation/validation.ts';
import { writeRunFolder } from '../../src/lab/run/run-folder.ts';
import { formatPipeTable } from '../text-table.ts';
import { measureConservationDrift, NAME } from './experiment.ts';
import { buildDriftFiles } from './files.ts';
import { driftSettings } from './settings.ts';
import { buildDriftTable } from './tables.ts';

interface Options {
  readonly backend: BackendChoice;
  readonly cache: string;
  readonly results: string;
  readonly data?: string;
  readonly fit?: string;
  readonly seed?: string;
  readonly retentionDays?: string;
  readonly halfLifeDays?: string;
  readonly capacity?: string;
  readonly leastMessages?: string;
}

/** The given settings; a value that is not a number stays a text, for the schema to check. */
function readDriftSettings({ data, backend: _, cache: __, results: ___, ...texts }: Options): unknown {
  const given = Object.entries(texts).map(([name, text]) => [name, Number.isNaN(Number(text)) ? text : Number(text)]);
  return { ...Object.fromEntries(given), ...(data === undefined ? {} : { dataset: { name: 'jsonl', path: data } }) };
}

async function run(options: Options, args: readonly string[]): Promise<void> {
  const settings = parse(driftSettings, readDriftSettings(options), 'the options');
  const backend = await useBackend(options.backend);
  for (const folder of [options.results, options.cache]) assertWritableFolder(folder);
  const result = await measureConservationDrift(settings, {
    backend,
    cacheFolder: options.cache,
    command: ['npm run experiment --', NAME, ...args].join(' '),
    progress: createTerminalProgress(),
  });
  const folder = join(options.results, `${NAME}-${result.hash}`);
  writeRunFolder(folder, buildDriftFiles(result));
  process.stdout.write(`\n${formatPipeTable(buildDriftTable(result))}\n\nreport: ${join(folder, 'report.html')}\n`);
}

/** @throws CommanderError for wrong usage, ConfigurationError for settings that cannot be. */
export async function runConservationDrift(args: readonly string[]): Promise<void> {
  const command = new Command(NAME)
    .description(
      'replays a corpus in time order under several retention policies and follows what the memory conserves',
    )
    .addOption(createBackendOption().default('auto'))
    .addOption(cacheOption())
    .option('--results <folder>', 'where the run folder is made', 'results/runs')
    .option('--data <folder>', 'your own conversations: a folder with turns.jsonl, queries.jsonl and qrels.txt')
    .option('--fit <conversations>', 'what the encoder is fitted on: dev or all (dev)')
    .option('--seed <number>', 'of the encoder')
    .option('--retention-days <number>', 'days after which a message is removed (30)')
    .option('--half-life-days <number>', 'of salience, in the policy that fades (7)')
    .option('--capacity <number>', 'messages that the policy of busy threads has room for (500)')
    .option('--least-messages <number>', 'messages in the retention time before, from which the table begins (100)')
    .exitOverride()
    .action((options: Options) => run(options, args));
  await command.parseAsync([...args], { from: 'user' });
}
