import { createRequire } from 'node:module';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The package that reads our TypeScript where we run from the source. */
const LOADER = 'tsx';

/** Arguments of Node for a module of ours in another process, of the source where this file is part of it. */
export interface Program {
  /** Options of Node itself. */
  readonly nodeOptions: readonly string[];
  readonly main: string;
}

/** @param module the path of the module, without its ending, from the file whose `import.meta.url` is `from`. */
export function findProgram(module: string, from: string): Program {
  const here = fileURLToPath(import.meta.url);
  const main = fileURLToPath(new URL(`${module}${extname(here)}`, from));
  if (extname(here) !== '.ts') return { nodeOptions: [], main };
  const loader = createRequire(import.meta.url).resolve(LOADER);
  return { nodeOptions: ['--import', pathToFileURL(loader).href], main };
}
