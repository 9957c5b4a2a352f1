import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { findOwnModule, IS_SOURCE } from './package-root.ts';

/** The package that reads our TypeScript where we run from the source. */
const LOADER = 'tsx';

/** Arguments of Node for a module of ours in another process, of the source where this file is part of it. */
export interface Program {
  /** Options of Node itself. */
  readonly nodeOptions: readonly string[];
  readonly main: string;
}

/** @param module its path in src, without the ending. */
export function findProgram(module: string): Program {
  const main = findOwnModule(module);
  if (!IS_SOURCE) return { nodeOptions: [], main };
  const loader = createRequire(import.meta.url).resolve(LOADER);
  return { nodeOptions: ['--import', pathToFileURL(loader).href], main };
}
