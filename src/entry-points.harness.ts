import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SOURCE = dirname(fileURLToPath(import.meta.url));

interface Target {
  readonly import: string;
}

const { exports } = JSON.parse(readFileSync(join(SOURCE, '../package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, Target | string>>;
};

/**
 * The entry points that package.json exports besides the root: the name after `rag-plusplus/` and the folder of src that
 * holds its `index.ts`.
 */
export const ENTRY_FOLDERS: ReadonlyMap<string, string> = new Map(
  Object.entries(exports).flatMap(([path, target]) =>
    path === '.' || typeof target === 'string'
      ? []
      : [[path.slice('./'.length), dirname(relative('dist', target.import))] as const],
  ),
);

/** The path of a file in the folder of an entry point. */
export const joinEntryPath = (name: string, file: string) => join(SOURCE, ENTRY_FOLDERS.get(name) as string, file);
