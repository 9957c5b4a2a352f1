import type { ApiModule } from './declarations.ts';

/** The most names that the modules export together. */
export const MOST_NAMES = 170;

/** The list of what a module exports, beside its source: `src/core/api.txt`. */
const toListFile = (file: string) => file.replace(/index\.ts$/, 'api.txt').replace(/\.ts$/, '.api.txt');

/**
 * The exported declarations of each module in the order of their names: what a change of the interface changes in the
 * repository.
 */
export function writeApiLists(modules: readonly ApiModule[]): { readonly file: string; readonly text: string }[] {
  return modules.map(({ specifier, file, exports }) => {
    const blocks = exports.map(
      ({ name, kind, declaration }) => `${kind} ${name}\n${declaration.replace(/^/gm, '  ')}\n`,
    );
    return { file: toListFile(file), text: [`${specifier}: ${exports.length} names\n`, ...blocks].join('\n') };
  });
}
