import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { PluginIdentity } from './members.ts';
import type { PluginDefinition } from './plugin.ts';

/** A plugin of a resolved config. */
export const resolvedPlugin = z.strictObject({
  name: z.string(),
  version: z.string(),
  /** Of the code that the module reaches. */
  hash: z.string(),
  /** From the working directory; null for a plugin that a program passed as an object. */
  module: z.string().nullable().default(null),
});
export type ResolvedPlugin = z.output<typeof resolvedPlugin>;

/** The plugins of a config as written: modules by their paths, relative to the file. */
export const writtenPlugins = z.array(z.union([z.string().min(1), resolvedPlugin]));

/** The kinds of members that a plugin may have. */
export type PluginKind = 'signals' | 'metrics' | 'encoders' | 'indexes' | 'datasets' | 'fusions' | 'steps';

/** A plugin whose members configs of this process may name. */
export interface InstalledPlugin extends PluginIdentity {
  readonly plugin: PluginDefinition;
  /** By kind, such as `indexes`: the names of its members. */
  readonly members: Readonly<Record<PluginKind, readonly string[]>>;
}

/** The plugins that this process has installed, by name. */
export const INSTALLED = new Map<string, InstalledPlugin>();

/** The paths of the modules that plugins were imported from. */
const paths = new WeakMap<PluginDefinition, string>();

export function setPluginPath(plugin: PluginDefinition, path: string): void {
  paths.set(plugin, path);
}

/** The module of a plugin, absolute; null for one that a program made without naming its module. */
export function findPluginPath(plugin: PluginDefinition): string | null {
  return paths.get(plugin) ?? (plugin.module === undefined ? null : fileURLToPath(plugin.module));
}

export function describeResolved({ name, version, hash, plugin }: InstalledPlugin): ResolvedPlugin {
  const path = findPluginPath(plugin);
  const near = path === null ? null : relative(process.cwd(), path);
  return { name, version, hash, module: near?.startsWith('..') ? path : near };
}

export function listInstalledPlugins(): readonly InstalledPlugin[] {
  return [...INSTALLED.values()];
}
