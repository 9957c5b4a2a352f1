import { z } from 'zod';
import { frozen } from '../../core/frozen.ts';
import { parse } from '../../core/validation.ts';
import type { Launcher } from './launcher.ts';
import { LocalLauncher, localOptions } from './local.ts';
import { SlurmLauncher, slurmOptions } from './slurm.ts';

/** A launcher that a config may name: its options, with the name as a literal, and how it is made of them. */
interface LauncherKind<S extends z.ZodObject<{ name: z.ZodLiteral<string> }>> {
  readonly options: S;
  readonly create: (options: z.output<S>) => Launcher;
}

function kind<S extends z.ZodObject<{ name: z.ZodLiteral<string> }>>(
  options: S,
  create: LauncherKind<S>['create'],
): LauncherKind<S> {
  return { options, create };
}

/** Every launcher: to add one takes its file and a line here. */
const KINDS = [
  kind(localOptions, (options) => new LocalLauncher(options)),
  kind(slurmOptions, (options) => new SlurmLauncher(options)),
] as const;

type SchemasOf<Kinds extends readonly { readonly options: z.ZodObject }[]> = {
  [K in keyof Kinds]: Kinds[K]['options'];
};

/** The options of every launcher, told apart by `name`; unknown keys are refused. */
export const launcherOptions = z.discriminatedUnion(
  'name',
  KINDS.map(({ options }) => options) as unknown as SchemasOf<typeof KINDS>,
);
export type LauncherOptions = z.output<typeof launcherOptions>;

function nameOf({ options }: (typeof KINDS)[number]): LauncherOptions['name'] {
  return options.shape.name.value;
}

export const LAUNCHER_NAMES: readonly LauncherOptions['name'][] = frozen(KINDS.map(nameOf));

/** @throws ConfigurationError for an unknown launcher and for options that are none of it. */
export function createLauncher(written: LauncherOptions): Launcher {
  const options = parse(launcherOptions, written, 'the options of a launcher');
  const { create } = KINDS.find((one) => nameOf(one) === options.name) as (typeof KINDS)[number];
  return (create as (options: LauncherOptions) => Launcher)(options);
}
