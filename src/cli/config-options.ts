import type { Command } from 'commander';
import { selectArms } from '../experiment/config/arm-selection.ts';
import { type ExperimentConfig, loadConfig } from '../experiment/config/config.ts';
import { RACE_DEFAULTS } from '../experiment/config/config-schema.ts';
import { collect } from './options.ts';

/** What changes a config from outside. */
export interface ConfigChanges {
  readonly set: readonly string[];
  readonly arm: readonly string[];
  readonly limitQueries?: string;
  readonly race?: true;
  readonly controls?: true;
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
    .option(
      '--race',
      'stop arms early that a test shows to be hopeless: evaluation.race of the config, or its defaults',
    )
    .option(
      '--controls',
      'add the null controls of every arm that is run, which say whether its gain is due to structure',
    );
}

/** A race of the config's own settings, or of the defaults. */
function raced(config: ExperimentConfig): ExperimentConfig {
  const { evaluation } = config;
  return { ...config, evaluation: { ...evaluation, race: evaluation.race ?? RACE_DEFAULTS } };
}

/** The config that a command is about. @throws ConfigurationError with all faults at once. */
export function changedConfig(
  path: string,
  { set, arm, limitQueries, race, controls }: ConfigChanges,
): ExperimentConfig {
  const limit = limitQueries === undefined ? [] : [`evaluation.limitQueries=${limitQueries}`];
  const control = controls === true ? ['controls=true'] : [];
  const config = selectArms(loadConfig(path, [...set, ...limit, ...control]), arm);
  return race === true ? raced(config) : config;
}

/** The words that the changes would be typed again as, not quoted yet. */
export function typedChanges({ set, arm, limitQueries, race, controls }: ConfigChanges): string[] {
  return [
    ...set.flatMap((override) => ['--set', override]),
    ...arm.flatMap((name) => ['--arm', name]),
    ...(limitQueries === undefined ? [] : ['--limit-queries', limitQueries]),
    ...(race === true ? ['--race'] : []),
    ...(controls === true ? ['--controls'] : []),
  ];
}
