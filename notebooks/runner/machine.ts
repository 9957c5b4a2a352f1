import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { UnavailableError } from '../../src/core/errors/errors.ts';

export const ROOT = join(import.meta.dirname, '..', '..');
export const NOTEBOOKS = join(ROOT, 'notebooks');

/** The packages of Debian that execute notebooks. */
export const DEBIAN_PACKAGES = ['python3', 'python3-nbclient'];
export const APT_LINE = `apt-get install -y --no-install-recommends ${DEBIAN_PACKAGES.join(' ')}`;

/** A Python in front of Debian's may lack the packages that apt installed. */
const PYTHONS = ['python3', '/usr/bin/python3'];

function succeeds(command: string, args: readonly string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** The first Python that has nbclient. @throws UnavailableError that names the packages to install. */
export function findPython(): string {
  const found = PYTHONS.find((python) => succeeds(python, ['-c', 'import nbclient, nbformat']));
  if (found !== undefined) return found;
  throw new UnavailableError('nbclient', `neither ${PYTHONS.join(' nor ')} can import it; run ${APT_LINE}`);
}

function runNpm(args: readonly string[], cwd: string): void {
  console.log(`npm ${args.join(' ')}${cwd === ROOT ? '' : ' in notebooks'}`);
  const { status } = spawnSync('npm', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0)
    throw new UnavailableError(`npm ${args.join(' ')}`, `npm exited with ${status} in ${cwd}; see the lines above`);
}

const readTime = (path: string) => (existsSync(path) ? statSync(path).mtimeMs : 0);

function findNewestSource(): number {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts'))
    .reduce((newest, file) => Math.max(newest, readTime(join(ROOT, 'src', file))), 0);
}

/** Installs what notebooks/package.json names, unless it is there. */
export function installPackages(): void {
  const installed = readTime(join(NOTEBOOKS, 'node_modules', '.package-lock.json'));
  if (installed < readTime(join(NOTEBOOKS, 'package-lock.json'))) runNpm(['ci', '--no-audit', '--no-fund'], NOTEBOOKS);
}

/** Builds the package that notebooks import, unless it is newer than its sources. */
export function buildPackage(): void {
  if (readTime(join(ROOT, 'dist', 'index.js')) < findNewestSource()) runNpm(['run', '-s', 'build'], ROOT);
}
