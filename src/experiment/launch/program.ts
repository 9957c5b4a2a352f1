import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** What reads our TypeScript where we run from the source. */
const LOADER = 'tsx';

/** How Node starts the command line once more: of the source where this file is part of it, else of the build. */
export interface Program {
  /** Options of Node itself. */
  readonly nodeOptions: readonly string[];
  readonly main: string;
}

export function thisProgram(): Program {
  const here = fileURLToPath(import.meta.url);
  const main = fileURLToPath(new URL(`../../cli/main${extname(here)}`, import.meta.url));
  if (extname(here) !== '.ts') return { nodeOptions: [], main };
  const loader = createRequire(import.meta.url).resolve(LOADER);
  return { nodeOptions: ['--import', pathToFileURL(loader).href], main };
}
