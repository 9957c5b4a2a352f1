import { ModuleVersions } from '../../core/code/module-versions.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { DATASETS } from '../../data/registry.ts';
import { METRICS } from '../../eval/metrics/metric.ts';
import { ENCODERS } from '../../index/encoders/registry.ts';
import { INDEXES } from '../../index/registry.ts';
import { FUSIONS } from '../../ops/fusion/registry.ts';
import { COLUMN_NAMES, STEPS } from '../../rank/retrieval/steps/keys.ts';
import { TAKEN_NAMES } from '../../rank/retrieval/written-steps.ts';
import { ADDED_SIGNALS } from '../../rank/signals/signal.ts';
import {
  adaptDataset,
  adaptEncoder,
  adaptFusion,
  adaptIndex,
  adaptMetric,
  adaptSignal,
  adaptStep,
  formatPlugin,
  type PluginIdentity,
} from './members.ts';
import { definePlugin, isPlugin, type PluginDefinition } from './plugin.ts';
import {
  describeResolved,
  findPluginPath,
  INSTALLED,
  type InstalledPlugin,
  type PluginKind,
  type ResolvedPlugin,
} from './resolved-plugin.ts';

/** A registry as installing sees it: each member that is added fits it. */
interface OpenRegistry {
  add(member: never): void;
  remove(name: string): void;
}

const KINDS = {
  signals: { registry: ADDED_SIGNALS, adapt: adaptSignal },
  metrics: { registry: METRICS, adapt: adaptMetric },
  encoders: { registry: ENCODERS, adapt: adaptEncoder },
  indexes: { registry: INDEXES, adapt: adaptIndex },
  datasets: { registry: DATASETS, adapt: adaptDataset },
  fusions: { registry: FUSIONS, adapt: adaptFusion },
  steps: { registry: STEPS, adapt: adaptStep },
} as const satisfies Readonly<Record<PluginKind, unknown>>;

/** Names that columns and keys of arms, and pool fusions have beside those of a registry. */
const TAKEN: Readonly<Partial<Record<PluginKind, readonly string[]>>> = {
  signals: COLUMN_NAMES,
  fusions: ['pool-rrf', 'pool-combsum'],
  steps: TAKEN_NAMES,
};

/** The text of every function of a plugin without a module: closures are not in it. */
function hashFunctions(plugin: PluginDefinition): string {
  const write = (_: string, value: unknown) => (typeof value === 'function' ? String(value) : value);
  return computeHash(JSON.stringify({ ...plugin, version: 0 }, write));
}

/** Identity of a plugin: of the code that its module reaches, else of its functions' text. @throws StorageError for a module that is missing. */
export function identifyPlugin(plugin: PluginDefinition): PluginIdentity {
  const path = findPluginPath(plugin);
  const hash = path === null ? hashFunctions(plugin) : new ModuleVersions().versionOf([path]);
  return { name: plugin.name, version: String(plugin.version), hash: hash.slice(0, 16) };
}

function uninstall({ members, name }: InstalledPlugin): void {
  for (const [kind, names] of Object.entries(members))
    for (const member of names) KINDS[kind as PluginKind].registry.remove(member);
  INSTALLED.delete(name);
}

/** @param before the plugin that is replaced: its names are free again. */
function assertNamesFree(
  plugin: PluginDefinition,
  identity: PluginIdentity,
  before: InstalledPlugin | undefined,
): void {
  for (const kind of Object.keys(KINDS) as PluginKind[]) {
    const names = (plugin[kind] ?? []).map(({ name }) => name);
    const own = before?.members[kind] ?? [];
    const known: readonly string[] = KINDS[kind].registry.names;
    const taken = [...known.filter((name) => !own.includes(name)), ...(TAKEN[kind] ?? [])];
    const clash = names.find((name, i) => taken.includes(name) || names.indexOf(name) < i);
    if (clash !== undefined)
      throw new ValidationError(
        `plugin ${formatPlugin(identity)}: name is taken among ${kind}: ${clash}; rename the member`,
        { plugin: plugin.name, name: clash },
      );
  }
}

function addMembers(plugin: PluginDefinition, identity: PluginIdentity, kind: PluginKind): string[] {
  const { registry, adapt } = KINDS[kind] as unknown as {
    readonly registry: OpenRegistry;
    readonly adapt: (member: unknown, identity: PluginIdentity) => never;
  };
  const members = plugin[kind] ?? [];
  for (const member of members) registry.add(adapt(member, identity));
  return members.map(({ name }) => name);
}

/**
 * Adds the members of a plugin to those that configs of this process may name. A plugin of the same name that was installed before is replaced, as when a cell of
 * a notebook runs again; with the same version and hash nothing happens.
 *
 * @throws ConfigurationError for an object that is no plugin; ValidationError for a name that is taken.
 */
export function installPlugin(given: PluginDefinition): InstalledPlugin {
  const plugin = isPlugin(given) ? given : definePlugin(given);
  const identity = identifyPlugin(plugin);
  const before = INSTALLED.get(plugin.name);
  if (before?.plugin === plugin && before.hash === identity.hash) return before;
  assertNamesFree(plugin, identity, before);
  if (before !== undefined) uninstall(before);
  const kinds = Object.keys(KINDS) as PluginKind[];
  const members = Object.fromEntries(kinds.map((kind) => [kind, addMembers(plugin, identity, kind)]));
  const found: InstalledPlugin = { ...identity, plugin, members: members as unknown as InstalledPlugin['members'] };
  INSTALLED.set(plugin.name, found);
  return found;
}

/** Takes a plugin's members away again; nothing happens for one that is not installed. */
export function uninstallPlugin(name: string): void {
  const found = INSTALLED.get(name);
  if (found !== undefined) uninstall(found);
}

/** The plugins that a program passes as objects, installed, as a resolved config names them. */
export function installGivenPlugins(plugins: readonly PluginDefinition[]): ResolvedPlugin[] {
  return plugins.map((plugin) => describeResolved(installPlugin(plugin)));
}
