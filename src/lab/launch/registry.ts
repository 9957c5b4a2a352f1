import type { z } from 'zod';
import { OptionsRegistry } from '../../core/validation/registry.ts';
import { parse } from '../../core/validation/validation.ts';
import { type Launcher, local, queue, slurm } from './launcher.ts';

type LauncherClass<Options> = new (options: Options) => Launcher;

/** Every launcher: to add one takes its file and a line here. */
export const LAUNCHERS = new OptionsRegistry('name', [
  { ...local, load: async () => (await import('./local.ts')).LocalLauncher },
  { ...slurm, load: async () => (await import('./slurm.ts')).SlurmLauncher },
  { ...queue, load: async () => (await import('./queue.ts')).QueueLauncher },
]);

/** The options of every launcher, distinguished by `name`; unknown keys are refused. */
export const launcherOptions = LAUNCHERS.options;
export type LauncherOptions = z.output<typeof launcherOptions>;

/** @throws ConfigurationError for an unknown launcher and for options that are none of it. */
export async function createLauncher(written: LauncherOptions): Promise<Launcher> {
  const options = parse(launcherOptions, written, 'the options of a launcher');
  const LauncherOf = (await LAUNCHERS.get(options.name).load()) as LauncherClass<LauncherOptions>;
  return new LauncherOf(options);
}
