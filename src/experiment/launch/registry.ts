import { z } from 'zod';
import type { Launcher } from './launcher.ts';
import { LocalLauncher, localOptions } from './local.ts';
import { SlurmLauncher, slurmOptions } from './slurm.ts';

/** The options of every launcher, told apart by `name`; unknown keys are refused. */
export const launcherOptions = z.discriminatedUnion('name', [localOptions, slurmOptions]);
export type LauncherOptions = z.output<typeof launcherOptions>;

/** Every launcher by name. */
const LAUNCHERS: {
  readonly [Name in LauncherOptions['name']]: (options: Extract<LauncherOptions, { name: Name }>) => Launcher;
} = {
  local: (options) => new LocalLauncher(options),
  slurm: (options) => new SlurmLauncher(options),
};

export const LAUNCHER_NAMES = Object.keys(LAUNCHERS) as LauncherOptions['name'][];

export function createLauncher(options: LauncherOptions): Launcher {
  const create = LAUNCHERS[options.name] as (options: LauncherOptions) => Launcher;
  return create(options);
}
