import { locatePath } from '../core/located-path.ts';

/**
 * The folder of the file that wrote a dataset's options. It is kept beside the options, not in them: a config that is written out, and every hash of it, must not
 * depend on where its file lay.
 */
const folders = new WeakMap<object, string>();

/** Notes the folder in which the path of a dataset is looked for before the working directory; null for the working directory alone. */
export function setDataFolder(options: object, folder: string | null): void {
  if (folder === null) folders.delete(options);
  else folders.set(options, folder);
}

/** The options with the path at which their data is. */
export function withLocatedPath<Options extends object>(options: Options): Options {
  if (typeof options !== 'object' || options === null || !('path' in options) || typeof options.path !== 'string')
    return options;
  return { ...options, path: locatePath(options.path, folders.get(options) ?? null) };
}

/** The folder of {@link setDataFolder} where the data is there; null where it is looked for in the working directory, or by an absolute path. */
export function usedDataFolder(options: object): string | null {
  const located: { readonly path?: unknown } = withLocatedPath(options);
  const written: { readonly path?: unknown } = options;
  return located.path === written.path ? null : (folders.get(options) ?? null);
}
