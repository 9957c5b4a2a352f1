import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The project's own folder, of the source as of the built package. */
export const PROJECT_ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');

/** The version of the package in a folder. */
export function readPackageVersion(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}

/** The version of the installed rag-plusplus, from its package.json. */
export function projectVersion(): string {
  return readPackageVersion(PROJECT_ROOT);
}
