import { readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const SOURCE = dirname(fileURLToPath(import.meta.url));

interface Target {
  readonly import: string;
}

const { name, exports } = JSON.parse(readFileSync(join(SOURCE, '../package.json'), 'utf8')) as {
  readonly name: string;
  readonly exports: Readonly<Record<string, Target | string>>;
};

/** The file of src behind each entry point that package.json exports, by what a user imports: `rag-plusplus/core`. */
export const DOORS: ReadonlyMap<string, string> = new Map(
  Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string'
      ? []
      : [[name + path.slice(1), relative('dist', target.import).replace(/js$/, 'ts')] as const],
  ),
);

/** Loads an entry point. */
export const importDoor = (door: string) =>
  import(join(SOURCE, DOORS.get(door) as string)) as Promise<Readonly<Record<string, unknown>>>;
