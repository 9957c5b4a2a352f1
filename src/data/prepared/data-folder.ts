import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { locatePath, UnavailableError } from '../../core/errors/errors.ts';

/**
 * The folder of the file that wrote a dataset's options. It is stored beside the options, not in them: a resolved config, and every hash of it, must not
 * depend on the location of its file.
 */
const folders = new WeakMap<object, string>();

/** Notes the folder in which the path of a dataset is looked for before the working directory; null for the working directory alone. */
export function setDataFolder(options: object, folder: string | null): void {
  if (folder === null) folders.delete(options);
  else folders.set(options, folder);
}

/** The options that are paths. */
const PATH_KEYS: readonly string[] = ['path', 'queryFile'];

/** The options with the paths at which their data is. */
function withLocatedPath<Options extends object>(options: Options): Options {
  if (typeof options !== 'object' || options === null) return options;
  const folder = folders.get(options) ?? null;
  const located = Object.entries(options).map(([key, value]) => [
    key,
    PATH_KEYS.includes(key) && typeof value === 'string' ? locatePath(value, folder) : value,
  ]);
  return Object.fromEntries(located);
}

/**
 * {@link withLocatedPath} of a path that must exist.
 *
 * @throws UnavailableError for the path of a config that leads nowhere, naming both places.
 */
export function withFoundPath<Options extends object>(options: Options): Options {
  const located = withLocatedPath(options);
  const folder = folders.get(options);
  const path = folder === undefined ? null : (located as { readonly path?: unknown }).path;
  if (folder === undefined || typeof path !== 'string' || existsSync(path)) return located;
  const locations = isAbsolute(path) ? '' : `, neither in ${folder} nor in the working directory`;
  throw new UnavailableError('data of the config', `no file or folder at ${path}${locations}; set its path`);
}

/** The folder of {@link setDataFolder} if the data is there; null if it is in the working directory or at an absolute path. */
export function findUsedDataFolder(options: object): string | null {
  const located: { readonly path?: unknown } = withLocatedPath(options);
  const written: { readonly path?: unknown } = options;
  return located.path === written.path ? null : (folders.get(options) ?? null);
}
