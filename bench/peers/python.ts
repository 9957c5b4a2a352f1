import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { UnavailableError } from '../../src/core/errors/errors.ts';

/** The first on the path, and Debian's own: another in front of it, such as pyenv's, does not see what apt-get installs. */
const COMMANDS = ['python3', '/usr/bin/python3'];

/** A Python with the packages that a peer needs. */
export interface FoundPython {
  readonly command: string;
  readonly versions: string;
  /** Variables of its processes besides those of this one. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Or the reason why it is missing, and the command that installs it. */
export type Python = FoundPython | { readonly missing: string };

/** The first Python that runs the code, which prints versions. */
function findRunning(code: string): FoundPython | undefined {
  for (const command of COMMANDS) {
    try {
      return { command, versions: execFileSync(command, ['-c', code], { encoding: 'utf8', stdio: 'pipe' }).trim() };
    } catch {
      // the next one may
    }
  }
  return undefined;
}

/** A Python with SQLite, which is part of it. */
export function findSqlitePython(): Python {
  const found = findRunning('import sqlite3; print("SQLite", sqlite3.sqlite_version)');
  return found ?? { missing: 'python3 does not import sqlite3: apt-get install -y python3' };
}

/**
 * @param packages as they are imported; Debian calls them python3-NAME.
 * @param condition a statement of Python that fails with other versions than are needed.
 */
export function findPython(packages: readonly string[], condition = 'pass'): Python {
  const code = `import ${packages.join(', ')}; ${condition}; print(', '.join(m.__name__ + ' ' + m.__version__ for m in (${packages.join(', ')},)))`;
  const found = findRunning(code);
  if (found !== undefined) return found;
  const debian = packages.map((name) => `python3-${name}`).join(' ');
  return { missing: `python3 does not import ${packages.join(', ')}: apt-get install -y ${debian}` };
}

/**
 * Runs a script of this folder.
 *
 * @returns its output, as JSON.
 * @throws UnavailableError with the last line of its complaint.
 */
export function runPeer<T>({ command, environment }: FoundPython, script: string, ...args: readonly string[]): T {
  const path = fileURLToPath(new URL(script, import.meta.url));
  try {
    // One thread, as everything that it is compared with.
    const env = { ...process.env, OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', ...environment };
    return JSON.parse(execFileSync(command, [path, ...args], { encoding: 'utf8', stdio: 'pipe', env })) as T;
  } catch (error) {
    const complaint = String((error as { stderr?: string }).stderr ?? error).trim();
    throw new UnavailableError(`peer ${script}`, `${complaint.split('\n').at(-1)}; install python3 and the package`, {
      cause: error,
    });
  }
}
