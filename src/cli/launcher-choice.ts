import type { Command } from 'commander';
import { z } from 'zod';
import { parse } from '../core/validation.ts';
import { merge, parseYaml } from '../experiment/config/config-file.ts';
import { LAUNCHERS, type LauncherOptions, launcherOptions } from '../experiment/launch/registry.ts';

/** Where the arms are run, as it was typed. */
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

/** The config's launcher, or the chosen one with the options that the config has for it. @throws ConfigurationError with all faults at once. */
export function chosenLauncher(configured: LauncherOptions, { launcher, workers }: LauncherChoice): LauncherOptions {
  const typed = launcher?.trimStart().startsWith('{') ? parseYaml(launcher, '--launcher') : { name: launcher };
  const chosen = launcher === undefined ? {} : typed;
  const isOther = chosen.name !== undefined && chosen.name !== configured.name;
  const options = merge(
    merge(isOther ? {} : configured, chosen),
    workers === undefined ? {} : { workers: Number(workers) },
  );
  return parse(z.object({ launcher: launcherOptions }), { launcher: options }, 'the command line').launcher;
}
