import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { z } from 'zod';
import type { ConfigurationFault } from '../../core/errors/errors.ts';
import { withNearest } from '../../core/validation/validation.ts';
import type { Plain } from './config-file.ts';

/** The keys that a file of each group may set, in the order in which groups are merged. */
const GROUPS = {
  dataset: ['dataset', 'embedding', 'plugins'],
  candidates: ['arms', 'plugins'],
  scoring: ['arms', 'plugins'],
  evaluation: ['evaluation', 'tuning', 'plugins'],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type Group = keyof typeof GROUPS;
export const GROUP_NAMES = Object.keys(GROUPS) as readonly Group[];

const choice = z.string().min(1).optional();

/** Group -> the name of one of its files. */
export const groupOptions = z.strictObject({
  dataset: choice,
  candidates: choice,
  scoring: choice,
  evaluation: choice,
});

/** The folders that may hold `groups` for a config: its own, and those above it up to one named `configs`. */
function groupFolders(config: string): string[] {
  const own = dirname(config);
  const above = resolve(own).split(sep);
  const top = above.lastIndexOf('configs');
  const steps = top < 0 ? 0 : above.length - 1 - top;
  return Array.from({ length: steps + 1 }, (_, up) => join(own, ...Array<string>(up).fill('..'), 'groups'));
}

/**
 * The file of a group that a config names: the nearest one.
 *
 * @param config the path of the config.
 */
export function findGroup(
  config: string,
  group: Group,
  name: string,
): { readonly file: string } | { readonly fault: ConfigurationFault } {
  const folders = groupFolders(config).map((folder) => join(folder, group));
  const file = folders.map((folder) => join(folder, `${name}.yaml`)).find((path) => existsSync(path));
  if (file !== undefined) return { file };
  const known = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
    .filter((entry) => entry.endsWith('.yaml'))
    .map((entry) => basename(entry, '.yaml'));
  const fault = {
    path: `groups.${group}`,
    expected: `a file groups/${group}/<name>.yaml beside the config (${known.join(', ') || 'there is none'})`,
    got: JSON.stringify(name),
  };
  return { fault: withNearest(fault, name, known) };
}

/** Keys of a group's file that are not of its group. */
export function findStrayKeys(group: Group, content: Plain): ConfigurationFault[] {
  const known: readonly string[] = GROUPS[group];
  return Object.keys(content)
    .filter((key) => !known.includes(key))
    .map((key) => {
      const fault = { path: key, expected: `one of ${known.join(', ')}`, got: `unknown key ${JSON.stringify(key)}` };
      return withNearest(fault, key, known);
    });
}
