import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What reads our TypeScript where we run from the source. */
const LOADER = 'tsx';

/** Limits of V8's memory, which hold for every process that we start. */
const MEMORY_OPTION = /^--max[-_]/;

/** How Node starts the command line in another process: of the source where this file is part of it, else of the build. */
export interface Program {
  /** Options of Node itself. */
  readonly nodeOptions: readonly string[];
  readonly main: string;
}

export function findOwnProgram(): Program {
  const here = fileURLToPath(import.meta.url);
  const main = fileURLToPath(new URL(`../../cli/work${extname(here)}`, import.meta.url));
  const limits = process.execArgv.filter((option) => MEMORY_OPTION.test(option));
  if (extname(here) !== '.ts') return { nodeOptions: limits, main };
  const loader = createRequire(import.meta.url).resolve(LOADER);
  return { nodeOptions: [...limits, '--import', pathToFileURL(loader).href], main };
}
