import { type Command, InvalidArgumentError, Option } from 'commander';
import { BACKENDS } from '../../core/tensors/active-backend.ts';
import { LAUNCHERS } from '../../lab/launch/registry.ts';

/** The action of a command whose code is imported when the command runs, so that help needs none of it. */
export function lazyAction<Arguments extends readonly unknown[]>(
  load: () => Promise<(...given: Arguments) => void | Promise<void>>,
): (...given: Arguments) => Promise<void> {
  return async (...given) => {
    const act = await load();
    await act(...given);
  };
}

/** The options that several commands share. */
export function createBackendOption(): Option {
  return new Option(
    '--backend <name>',
    `tensor backend; auto takes the first that loads of ${BACKENDS.join(', ')}`,
  ).choices(['auto', ...BACKENDS]);
}

export function cacheOption(): Option {
  return new Option('--cache <folder>', 'where prepared datasets, embeddings and the results of stages are kept')
    .env('RAGPP_CACHE')
    .default('.ragpp/cache');
}

/** For an option that may be given several times. */
export function collect(value: string, earlier: string[]): string[] {
  return [...earlier, value];
}

/** Reads a finite number. */
export function parseNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number))
    throw new InvalidArgumentError('not a finite number; give one such as 0.5.');
  return number;
}

/** Reads a number of things. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new InvalidArgumentError('not a whole number from 1; give one such as 10.');
  return count;
}

/** Reads a number above 0. */
export function parsePositive(text: string): number {
  const number = parseNumber(text);
  if (number <= 0) throw new InvalidArgumentError('not above 0; give a number such as 15.');
  return number;
}

/** The options that change a config. */
export interface ConfigChanges {
  readonly set: readonly string[];
  readonly arm: readonly string[];
  readonly limitQueries?: string;
  readonly race?: true;
  readonly controls?: true;
  /** One of the datasets of a config that has several. */
  readonly dataset?: string;
}

/** Adds the options that every command with a config takes. */
export function withConfigChanges(command: Command): Command {
  return command
    .option(
      '--set <path=value>',
      'override one value of the config (repeatable); arms go by number or name',
      collect,
      [],
    )
    .option(
      '--arm <name>',
      'only this arm and the baseline (repeatable); by its name or the name of its file',
      collect,
      [],
    )
    .option(
      '--limit-queries <n>',
      'limit the queries of each split, of conversations drawn by the seed: for a quick look',
    )
    .option('--dataset <name>', 'of a config with several datasets, this one alone')
    .option(
      '--race',
      'stop arms early that a test shows to be hopeless: evaluation.race of the config, or its defaults',
    )
    .option(
      '--controls',
      'add the null controls of every arm that is run, which say whether its gain is due to structure',
    );
}

/** The launcher options of the command line. */
export interface LauncherChoice {
  readonly launcher?: string;
  readonly workers?: string;
}

export function withLauncherChoice(command: Command): Command {
  return command
    .option(
      '--launcher <name>',
      `where arms are run: ${LAUNCHERS.names.join(', ')}; or with its options, as '{name: slurm, time: "2:00:00"}'`,
    )
    .option('--workers <n>', 'arms at once, each in a process and with a backend of its own');
}
