import { resolve } from 'node:path';
import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { check } from '../../core/validation/validation.ts';
import type { ComposedConfig } from '../composition/config-composition.ts';
import { describeResolved, INSTALLED, type ResolvedPlugin, writtenPlugins } from './resolved-plugin.ts';

/** The modules of the plugins that were loaded for configs of this process: absolute path -> name. */
const names = new Map<string, string>();

type Written = string | ResolvedPlugin;

function listWritten({ content }: ComposedConfig): readonly Written[] {
  const found = check(writtenPlugins, content.plugins ?? []);
  return 'value' in found ? found.value : [];
}

/**
 * The path of a module. Composing files made the paths absolute that a file wrote; others are relative to the working
 * directory.
 */
function locateModule(entry: Written): string | null {
  if (typeof entry === 'string') return resolve(entry);
  return entry.module === null ? null : resolve(entry.module);
}

/**
 * Imports and installs the plugins that a composed config names.
 *
 * @throws as `loadPlugin` and `installPlugin` do; ConfigurationError for a plugin whose code is not that of the
 *   resolved config.
 */
export async function installConfigPlugins(composed: ComposedConfig): Promise<void> {
  for (const [i, entry] of listWritten(composed).entries()) {
    const path = locateModule(entry);
    if (path === null) continue; // only the program that passed the object can install it
    const [{ loadPlugin }, { identifyPlugin, installPlugin }] = await Promise.all([
      import('./load.ts'),
      import('./install.ts'),
    ]);
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

interface ResolvedPlugins {
  readonly plugins: readonly ResolvedPlugin[] | undefined;
  readonly faults: readonly ConfigurationFault[];
}

/** The plugins of a config that names none. */
export const NO_PLUGINS: ResolvedPlugins = { plugins: undefined, faults: [] };

/** The plugins of a config as the resolved config has them, and a fault for each that is not installed. */
export function resolvePlugins(composed: ComposedConfig): ResolvedPlugins {
  const shape = check(z.object({ plugins: writtenPlugins }), { plugins: composed.content.plugins });
  if ('faults' in shape) return { plugins: undefined, faults: shape.faults };
  const plugins: ResolvedPlugin[] = [];
  const faults: ConfigurationFault[] = [];
  for (const [i, entry] of shape.value.plugins.entries()) {
    const path = locateModule(entry);
    const name = typeof entry === 'string' ? names.get(path as string) : entry.name;
    const found = INSTALLED.get(name ?? '');
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
