import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { UnavailableError } from '../src/core/errors/errors.ts';

const SOURCE = fileURLToPath(new URL('./peers/slow-sync.c', import.meta.url));

/**
 * The environment of a process in which each sync of a file takes longer.
 *
 * @param folder where the library that does so is written.
 * @throws UnavailableError without a C compiler.
 */
export function slowSyncs(milliseconds: number, folder: string): Readonly<Record<string, string>> {
  const library = join(folder, 'slow-sync.so');
  try {
    execFileSync('cc', ['-shared', '-fPIC', '-O2', '-o', library, SOURCE, '-ldl'], { stdio: 'pipe' });
  } catch (error) {
    throw new UnavailableError('slower disk', 'cc did not compile bench/peers/slow-sync.c; install a C compiler', {
      cause: error,
    });
  }
  return { LD_PRELOAD: library, SLOW_SYNC_MICROSECONDS: `${1000 * milliseconds}` };
}
