import type { Command } from 'commander';
import { LAUNCHERS } from '../../lab/launch/registry.ts';
import { collect } from './options.ts';

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
