import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** The parent of a process, and its title or command line. */
interface Ancestor {
  readonly parent: number;
  readonly title: string;
}

function describeProcess(id: number): Ancestor {
  if (existsSync('/proc/self/stat')) {
    const stat = readFileSync(`/proc/${id}/stat`, 'utf8');
    const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // state, parent
    return { parent: Number(parent), title: readFileSync(`/proc/${id}/cmdline`, 'utf8') };
  }
  const line = execFileSync('ps', ['-o', 'ppid=,args=', '-p', String(id)], { encoding: 'utf8' }).trim();
  const space = line.indexOf(' ');
  return { parent: Number(line.slice(0, space)), title: line.slice(space + 1) };
}

/**
 * The npm that runs this program as a script, which may be several processes away; null for none, and where the system
 * does not list processes.
 */
export function findNpmProcess(): number | null {
  if (process.env.npm_lifecycle_event === undefined) return null;
  try {
    for (let id = process.ppid; id > 1; ) {
      const { parent, title } = describeProcess(id);
      if (/^npm\b/.test(title)) return id;
      id = parent;
    }
  } catch {
    // Without a list of processes this program ends with its own parent alone.
  }
  return null;
}

/** True if a process exists. */
export function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
