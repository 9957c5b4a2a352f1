import type { z } from 'zod';
import { type Definition, type Lazy, type NamingOptions, OptionsRegistry } from '../../core/validation/registry.ts';
import { parse } from '../../core/validation/validation.ts';
import { type Launcher, local, slurm } from './launcher.ts';

type LauncherClass<Options> = new (options: Options) => Launcher;

function member<S extends NamingOptions<'name'>>(
  definition: Definition<'name', S>,
  load: () => Promise<LauncherClass<z.output<S>>>,
): Lazy<Definition<'name', S>, LauncherClass<z.output<S>>> {
  return { ...definition, load };
}

/** Every launcher: to add one takes its file and a line here. */
export const LAUNCHERS = new OptionsRegistry('name', [
  member(local, async () => (await import('./local.ts')).LocalLauncher),
  member(slurm, async () => (await import('./slurm.ts')).SlurmLauncher),
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
