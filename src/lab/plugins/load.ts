import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { IS_SOURCE } from '../../core/code/package-root.ts';
import { PluginError, RagPlusPlusError, UnavailableError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { parse } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { identifyPlugin } from './install.ts';
import { definePlugin, isPlugin, type PluginDefinition } from './plugin.ts';
import { setPluginPath } from './resolved-plugin.ts';

/** The package that compiles TypeScript where Node itself does not, and its entry. */
const LOADER = 'tsx';
const LOADER_ENTRY = './esm/api';

const manifest = z.object({
  exports: z.object({ [LOADER_ENTRY]: z.object({ import: z.object({ default: z.string() }) }) }),
});

type ImportModule = (url: string) => Promise<unknown>;

const importPlain: ImportModule = (url) => import(url);

/** True if this process reads TypeScript: Node from 22.18 on, or a process that runs from our source. */
function readsTypeScript(): boolean {
  return 'typescript' in process.features || IS_SOURCE;
}

/** Finds the package that compiles TypeScript, from the module's folder and from ours. */
function findLoader(path: string): string | undefined {
  for (const from of [path, import.meta.url]) {
    try {
      const path = createRequire(from).resolve(`${LOADER}/package.json`);
      const { exports } = parse(manifest, JSON.parse(readText(path)), path);
      return join(dirname(path), exports[LOADER_ENTRY].import.default);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'MODULE_NOT_FOUND') throw error;
    }
  }
  return undefined;
}

let isRegistered = false;

async function chooseImport(path: string): Promise<ImportModule> {
  if (!/\.[cm]?tsx?$/.test(path) || readsTypeScript()) return importPlain;
  const found = findLoader(path);
  if (found === undefined)
    throw new UnavailableError(
      `TypeScript of plugin ${path}`,
      `Node ${process.version} does not read it and tsx is not installed; run npm install tsx, use Node 22.18, or write .mjs`,
    );
  const { register } = (await importPlain(pathToFileURL(found).href)) as { readonly register: () => unknown };
  if (!isRegistered) register(); // modules that the plugin shares with us, such as this package, stay the same ones
  isRegistered = true;
  return importPlain;
}

/** True for an error of another copy of this package, which the module may have: the error states what to do. */
function isErrorOfCopy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && 'facts' in error;
}

async function importDefault(path: string): Promise<unknown> {
  const importModule = await chooseImport(path);
  try {
    return ((await importModule(pathToFileURL(path).href)) as { readonly default?: unknown }).default;
  } catch (error) {
    if (error instanceof RagPlusPlusError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    if (isErrorOfCopy(error)) throw new PluginError(path, message, {}, { cause: error });
    throw new PluginError(path, `module could not be imported: ${message}; correct the module`, {}, { cause: error });
  }
}

/** A plugin as it was imported. */
interface Imported {
  readonly plugin: PluginDefinition;
  readonly hash: string;
}

/** By path: a module is imported once in a process. */
const imported = new Map<string, Promise<Imported>>();

async function importPlugin(path: string): Promise<Imported> {
  if (!existsSync(path))
    throw new UnavailableError(`plugin ${path}`, 'no file is there; correct its path, which is relative to the config');
  const found = await importDefault(path);
  if (found === null || typeof found !== 'object' || !('name' in found))
    throw new PluginError(path, 'module has no plugin as its default export; export default definePlugin({ ... })');
  // A module may have its own copy of the package: its plugin is checked by ours then.
  const plugin = isPlugin(found) ? found : definePlugin(found as PluginDefinition);
  setPluginPath(plugin, path);
  return { plugin, hash: identifyPlugin(plugin).hash };
}

/**
 * Imports the plugin that a module exports by default, once in a process.
 *
 * @param file absolute, or relative to the working directory.
 * @throws UnavailableError for a missing file, and for TypeScript that nothing here reads; ConfigurationError for a plugin with faults; PluginError for a
 * module that throws, exports no plugin, or changed since it was imported.
 */
export async function loadPlugin(file: string): Promise<PluginDefinition> {
  const path = resolve(file);
  const { plugin, hash } = await getOrCompute(imported, path, () => importPlugin(path)).catch((error: unknown) => {
    imported.delete(path);
    throw error;
  });
  if (identifyPlugin(plugin).hash !== hash)
    throw new PluginError(path, 'module changed since this process imported it; start the process again');
  return plugin;
}
