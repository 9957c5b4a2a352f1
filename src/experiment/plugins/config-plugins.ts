import { isAbsolute, join, relative, resolve } from 'node:path';
import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors.ts';
import { check } from '../../core/validation.ts';
import type { ComposedConfig } from '../config/config-composition.ts';
import { findWriterFolder } from '../config/config-composition.ts';
import { isPlain } from '../config/config-file.ts';
import {
  findPluginPath,
  type InstalledPlugin,
  identifyPlugin,
  installPlugin,
  listInstalledPlugins,
  type PluginKind,
} from './install.ts';
import { loadPlugin } from './load.ts';
import type { PluginDefinition } from './plugin.ts';
import { type ResolvedPlugin, writtenPlugins } from './resolved-plugin.ts';

/** The modules of the plugins that were loaded for configs of this process: absolute path -> name. */
const names = new Map<string, string>();

type Written = string | ResolvedPlugin;

function listWritten({ content }: ComposedConfig): readonly Written[] {
  const found = check(writtenPlugins, content.plugins ?? []);
  return 'value' in found ? found.value : [];
}

/** The path of a module: relative to the file that names it, or, of a resolved config, to the working directory. */
function locateModule(entry: Written, composed: ComposedConfig): string | null {
  if (typeof entry !== 'string') return entry.module === null ? null : resolve(entry.module);
  const folder = findWriterFolder(['plugins'], composed);
  return resolve(isAbsolute(entry) || folder === null ? entry : join(folder, entry));
}

/**
 * Imports and installs the plugins that a composed config names.
 *
 * @throws as {@link loadPlugin} and {@link installPlugin} do; ConfigurationError for a plugin whose code is not that of the resolved config.
 */
export async function installConfigPlugins(composed: ComposedConfig): Promise<void> {
  for (const [i, entry] of listWritten(composed).entries()) {
    const path = locateModule(entry, composed);
    if (path === null) continue; // only the program that passed the object can install it
    const plugin = await loadPlugin(path);
    const { hash } = identifyPlugin(plugin);
    if (typeof entry !== 'string' && entry.hash !== hash)
      throw new ConfigurationError(composed.source, [
        {
          path: `plugins[${i}].hash`,
          expected: `the code of the run, ${entry.hash}`,
          got: `${hash} in ${path}; name the module by its path to run with its code of today`,
        },
      ]);
    installPlugin(plugin);
    names.set(path, plugin.name);
  }
}

function describeResolved({ name, version, hash, plugin }: InstalledPlugin): ResolvedPlugin {
  const path = findPluginPath(plugin);
  const near = path === null ? null : relative(process.cwd(), path);
  return { name, version, hash, module: near?.startsWith('..') ? path : near };
}

/** The plugins of a config as the resolved config has them, and a fault for each that is not installed. */
export function resolvePlugins(composed: ComposedConfig): {
  readonly plugins: readonly ResolvedPlugin[] | undefined;
  readonly faults: readonly ConfigurationFault[];
} {
  if (composed.content.plugins === undefined) return { plugins: undefined, faults: [] };
  const shape = check(z.object({ plugins: writtenPlugins }), { plugins: composed.content.plugins });
  if ('faults' in shape) return { plugins: undefined, faults: shape.faults };
  const known = new Map(listInstalledPlugins().map((plugin) => [plugin.name, plugin]));
  const plugins: ResolvedPlugin[] = [];
  const faults: ConfigurationFault[] = [];
  for (const [i, entry] of shape.value.plugins.entries()) {
    const path = locateModule(entry, composed);
    const name = typeof entry === 'string' ? names.get(path as string) : entry.name;
    const found = known.get(name ?? '');
    const isSame = typeof entry === 'string' || entry.hash === found?.hash;
    if (found !== undefined && isSame) plugins.push(describeResolved(found));
    else
      faults.push({
        path: `plugins[${i}]`,
        expected: 'a plugin that is installed; call openConfig or loadConfigPlugins first',
        got: typeof entry === 'string' ? JSON.stringify(entry) : `${entry.name} ${entry.version}, ${entry.hash}`,
      });
  }
  return { plugins, faults };
}

/** The plugins that a program passes as objects, installed, as a resolved config names them. */
export function installGivenPlugins(plugins: readonly PluginDefinition[]): ResolvedPlugin[] {
  return plugins.map((plugin) => describeResolved(installPlugin(plugin)));
}

/** Where a config names a member of each kind. */
interface Named {
  readonly path: string;
  readonly kind: PluginKind;
  readonly name: unknown;
}

const toPlain = (value: unknown) => (isPlain(value) ? value : {});
const toList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The plugin signals and the encoders of a bank of signals. */
function listBankNames(bank: unknown, at: string): Named[] {
  const { plugins, encoders } = toPlain(bank);
  return [
    ...Object.keys(toPlain(plugins)).map((name): Named => ({ path: `${at}.plugins.${name}`, kind: 'signals', name })),
    ...toList(encoders).map(
      (encoder, i): Named => ({ path: `${at}.encoders[${i}]`, kind: 'encoders', name: toPlain(encoder).encoder }),
    ),
  ];
}

const listSourceNames = (candidates: unknown, at: string) =>
  toList(candidates).map(
    (source, i): Named => ({ path: `${at}candidates[${i}]`, kind: 'indexes', name: toPlain(source).index }),
  );

function listArmNames(arm: unknown, at: string): Named[] {
  const { candidates, relevance, embedding, scoring } = toPlain(arm);
  const { signals, fusion } = toPlain(relevance);
  return [
    { path: `${at}.embedding.encoder`, kind: 'encoders', name: toPlain(embedding).encoder },
    ...listSourceNames(candidates, `${at}.`),
    ...toList(signals).map((name, i): Named => ({ path: `${at}.relevance.signals[${i}]`, kind: 'signals', name })),
    { path: `${at}.relevance.fusion`, kind: 'fusions', name: toPlain(fusion).method },
    ...listBankNames(toPlain(scoring).signals, `${at}.scoring.signals`),
  ];
}

interface NamingConfig {
  readonly dataset: { readonly name: string };
  readonly embedding: { readonly encoder: string };
  readonly tuning: { readonly metric: string };
  readonly evaluation: { readonly metrics: readonly string[] };
  readonly arms: readonly unknown[];
  readonly plugins?: readonly ResolvedPlugin[] | undefined;
}

/** Members of plugins that this process has installed but that the config does not name: its hash would not cover them. */
export function findUnnamedPlugins(config: NamingConfig): ConfigurationFault[] {
  const own = new Set(config.plugins?.map(({ name }) => name));
  const others = listInstalledPlugins().filter(({ name }) => !own.has(name));
  if (others.length === 0) return [];
  const family = (metric: string) => metric.split('@')[0];
  const named: Named[] = [
    { path: 'dataset.name', kind: 'datasets', name: config.dataset.name },
    { path: 'embedding.encoder', kind: 'encoders', name: config.embedding.encoder },
    { path: 'tuning.metric', kind: 'metrics', name: family(config.tuning.metric) },
    ...config.evaluation.metrics.map(
      (metric, i): Named => ({
        path: `evaluation.metrics[${i}]`,
        kind: 'metrics',
        name: family(metric),
      }),
    ),
    ...config.arms.flatMap((arm, i) => listArmNames(arm, `arms[${i}]`)),
  ];
  return named.flatMap(({ path, kind, name }) => {
    const owner = others.find(({ members }) => (members[kind] as readonly unknown[]).includes(name));
    if (owner === undefined) return [];
    return [{ path, expected: `plugin ${owner.name} in plugins`, got: JSON.stringify(name) }];
  });
}
