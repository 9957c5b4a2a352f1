import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { computeHash } from '../../src/core/hash/hash.ts';
import type { FoundPython, Python } from './python.ts';

/** Written last: an interrupted installation is repeated. */
const COMPLETE = 'complete';

/** Folder and packages of the environment of a requirements file. */
function locateEnvironment(requirements: string) {
  const path = fileURLToPath(new URL(requirements, import.meta.url));
  const list = readFileSync(path, 'utf8');
  const folder = join(tmpdir(), `ragpp-bench-python-${computeHash(list).slice(0, 16)}`);
  return { path, folder, command: join(folder, 'bin', 'python'), versions: list.trim().split('\n').join(', ') };
}

/** The Python that an earlier {@link installPython} has made; null without one. */
export function findInstalled(requirements: string): FoundPython | null {
  const { folder, command, versions } = locateEnvironment(requirements);
  return existsSync(join(folder, COMPLETE)) ? { command, versions } : null;
}

/**
 * A Python with the packages of a requirements file, in a virtual environment in the folder for temporary files. A later run uses the same one.
 *
 * @param requirements a file of this folder.
 * @param command the Python that makes the environment.
 */
export function installPython(requirements: string, command = 'python3'): Python {
  const { path, folder, command: python, versions } = locateEnvironment(requirements);
  const found = findInstalled(requirements);
  if (found !== null) return found;
  rmSync(folder, { recursive: true, force: true });
  console.error(`install ${versions} in ${folder}, which later runs use; some packages take minutes`);
  try {
    execFileSync(command, ['-m', 'venv', folder], { stdio: 'pipe' });
    execFileSync(python, ['-m', 'pip', 'install', '--quiet', '-r', path], { stdio: 'pipe' });
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    const complaint = String((error as { stderr?: Buffer }).stderr || error).trim();
    const reason = complaint.split('\n').at(-1);
    return { missing: `${command} cannot install ${versions}: ${reason}; install python3 with venv and pip` };
  }
  writeFileSync(join(folder, COMPLETE), '');
  return { command: python, versions };
}
