import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnavailableError } from '../errors/errors.ts';
import { IS_SOURCE, PROJECT_ROOT } from './package-root.ts';

interface Manifest {
  readonly peerDependencies: Readonly<Record<string, string>>;
}

/** In a clone npm leaves out a peer that is optional unless it is asked for one of development. */
const OPTIONS = IS_SOURCE ? '--no-save --save-dev ' : '';

/** The packages as words of `npm install`, in the versions that package.json asks for: `pg@8`. */
function writeVersions(packages: readonly string[]): string {
  const { peerDependencies } = JSON.parse(readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')) as Manifest;
  return packages.map((name) => `${name}@${peerDependencies[name]?.replace(/^\^(\d+).*/, '$1')}`).join(' ');
}

/**
 * Imports optional peers of package.json, which not every installation has.
 *
 * @param what needs them.
 * @param packages their names.
 * @throws UnavailableError with the command that installs them, if one is missing.
 */
export async function importOptional<T>(load: () => Promise<T>, what: string, packages: readonly string[]): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    const command = `npm install ${OPTIONS}${writeVersions(packages)}`;
    throw new UnavailableError(what, `a package is missing; ${command}`, { cause: error });
  }
}
