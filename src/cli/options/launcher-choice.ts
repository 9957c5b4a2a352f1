import type { Command } from 'commander';
import { LAUNCHERS } from '../../lab/launch/registry.ts';

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
