import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { StorageError, UnavailableError } from '../../core/errors.ts';
import { assertNoLink } from '../../core/files.ts';

const holderSchema = z.object({ pid: z.number(), host: z.string(), born: z.string().nullable() });
type Holder = z.output<typeof holderSchema>;

/** The process that wrote a lock; null for a file that is not a lock. */
function parseHolder(text: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The start time of a process, in ticks since boot; null if the system does not report it. After a restart a number may name another process. */
function readProcessBirth(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] as string;
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // the process of another user
  }
}

/** True for a process of this machine that has ended; unknown for another machine. */
function isGone({ pid, host, born }: Holder): boolean {
  return host === hostname() && (!isAlive(pid) || readProcessBirth(pid) !== born);
}

/** The content of a lock; null without a lock. */
function readLockContent(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new StorageError('read', path, { cause: error });
  }
}

/** Makes a file with its content in one step, unless it exists. */
function makeWhole(path: string, text: string): boolean {
  const fresh = `${path}.${process.pid}`;
  try {
    rmSync(fresh, { force: true }); // of an earlier process of this number
    writeFileSync(fresh, text, { flag: 'wx' });
    linkSync(fresh, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new StorageError('write', path, { cause: error });
  } finally {
    rmSync(fresh, { force: true });
  }
}

/** Takes a lock away whose holder is gone. Another process may do so at the same time and have made its own by now, which is then put back. */
function takeAway(path: string, stale: string): void {
  const aside = `${path}.stale-${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw new StorageError('remove', path, { cause: error });
  }
  if (readLockContent(aside) !== stale) makeWhole(path, readLockContent(aside) ?? '');
  rmSync(aside, { force: true });
}

function createHeldError(folder: string, path: string, holder: Holder | null): UnavailableError {
  const who = holder === null ? 'it is locked' : `process ${holder.pid} on ${holder.host} works on it`;
  return new UnavailableError(`run folder ${folder}`, `${who}; wait for it, or delete ${path} if it has ended`);
}

/** One process at a time may work on a run's folder. The lock is a file of the folder and moves with it. */
export class RunLock {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** The name of the lock within its folder. */
  static readonly NAME = 'lock';

  /** @throws UnavailableError naming the process that has it, StorageError for a link. The lock of a dead process of this machine is taken over. */
  static acquire(folder: string): RunLock {
    const path = join(folder, RunLock.NAME);
    const holder: Holder = { pid: process.pid, host: hostname(), born: readProcessBirth(process.pid) };
    const lock = new RunLock(JSON.stringify(holder));
    while (!makeWhole(path, lock.#text)) {
      assertNoLink(path);
      const text = readLockContent(path);
      if (text === null) continue;
      const found = parseHolder(text);
      if (found === null || !isGone(found)) throw createHeldError(folder, path, found);
      takeAway(path, text);
    }
    return lock;
  }

  /** Removes the lock from the folder, also if the folder was renamed; the lock of another process remains. */
  release(folder: string): void {
    const path = join(folder, RunLock.NAME);
    if (readLockContent(path) === this.#text) rmSync(path, { force: true });
  }
}
