import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const HERE = fileURLToPath(import.meta.url);

/** True if this process runs from the source, not from the built package. */
export const IS_SOURCE = extname(HERE) === '.ts';

function findRoot(folder: string): string {
  const parent = dirname(folder);
  return existsSync(join(folder, 'package.json')) || parent === folder ? folder : findRoot(parent);
}

/** The project's own folder, of the source as of the built package. */
export const PROJECT_ROOT = findRoot(dirname(HERE));

/** The path of a file of src as it runs: of the source or of the build, which has most modules in shared chunks. */
export function findOwnFile(path: string): string {
  return join(PROJECT_ROOT, IS_SOURCE ? 'src' : 'dist', path);
}

/** The same for a module. @param module its path in src, without the ending; `build.ts` lists those of the build. */
export function findOwnModule(module: string): string {
  return findOwnFile(`${module}${IS_SOURCE ? '.ts' : '.js'}`);
}

/** The version of the package in a folder. */
export function readPackageVersion(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}

/** The version of the installed rag-plusplus, from its package.json. */
export function projectVersion(): string {
  return readPackageVersion(PROJECT_ROOT);
}

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
