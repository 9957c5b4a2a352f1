import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import { z } from 'zod';
import { StorageError, UnavailableError } from '../errors/errors.ts';
import { computeHash } from '../hash/hash.ts';
import { parseOrNull } from '../validation/validation.ts';
import { assertNoLink, writeFully } from './files.ts';

const holderSchema = z.object({
  pid: z.number(),
  host: z.string(),
  born: z.string().nullable(),
  /** The namespace that the number belongs to; absent or null if the system does not report it. */
  namespace: z.string().nullable().optional(),
  /** Distinguishes the locks of one process. */
  nonce: z.string().optional(),
});
type Holder = z.output<typeof holderSchema>;

/** The process that wrote a lock; null for a file that is not a lock. */
function parseHolder(text: string): Holder | null {
  try {
    return parseOrNull(holderSchema, JSON.parse(text));
  } catch {
    return null;
  }
}

/** The fields of /proc/PID/stat from the state on; null if the system does not report them. */
function readProcessFields(pid: number): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return null;
  }
}

/** The start time of a process, in ticks since boot; null if the system does not report it. After a restart a number may name another process. */
function readProcessBirth(pid: number): string | null {
  return readProcessFields(pid)?.[19] ?? null;
}

/** The namespace of process numbers that this process is in. */
function readProcessNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

/** True for a process that has ended and whose parent has not asked for its exit code. Its other threads may still end a write. */
function isZombie(pid: number): boolean {
  if (readProcessFields(pid)?.[0] !== 'Z') return false;
  try {
    return readdirSync(`/proc/${pid}/task`).length <= 1;
  } catch {
    return true;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // the process of another user
  }
}

/** True for a process of this machine that has ended; unknown for another machine and for another namespace of process numbers. */
function isGone({ pid, host, born, namespace }: Holder): boolean {
  if (host !== hostname()) return false;
  if (typeof namespace === 'string' && namespace !== readProcessNamespace()) return false;
  return !isAlive(pid) || readProcessBirth(pid) !== born;
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

/** Makes a file with its content, on the disk before it gets its name. */
function fillFresh(fresh: string, text: string): void {
  rmSync(fresh, { force: true }); // of an earlier process of this number
  const file = openSync(fresh, 'wx');
  try {
    writeFully(file, Buffer.from(text));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Gives a new file its name by `place`; false if the name is taken. */
function placeWhole(path: string, text: string, place: (fresh: string) => void): boolean {
  const fresh = `${path}.${process.pid}-${threadId}`;
  try {
    fillFresh(fresh, text);
    place(fresh);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw new StorageError('write', path, { cause: error });
  } finally {
    rmSync(fresh, { force: true });
  }
}

function createHeldError(what: string, path: string, holder: Holder | null): UnavailableError {
  const who = holder === null ? 'it is locked' : `process ${holder.pid} on ${holder.host} works on it`;
  return new UnavailableError(what, `${who}; wait for it, or delete ${path} if it has ended`);
}

function removeOwn(path: string, text: string): void {
  if (readLockContent(path) === text) rmSync(path, { force: true });
}

/**
 * Replaces the lock of a process that has ended. Of several processes that find it, one gets the lock of the takeover, whose name comes from the old lock;
 * only that process may change the old lock, and it looks again before it does. So the new lock of another process is never removed.
 */
function takeOver(path: string, stale: string, text: string, what: string): boolean {
  const claim = `${path}.${computeHash(stale).slice(0, 12)}`;
  acquireLock(claim, text, what);
  try {
    return readLockContent(path) === stale && placeWhole(path, text, (fresh) => renameSync(fresh, path));
  } finally {
    removeOwn(claim, text);
  }
}

/** @throws UnavailableError naming the process that has the lock. */
function acquireLock(path: string, text: string, what: string): void {
  while (!placeWhole(path, text, (fresh) => linkSync(fresh, path))) {
    assertNoLink(path);
    const found = readLockContent(path);
    if (found === null) continue;
    const holder = parseHolder(found);
    if (holder === null || !isGone(holder)) throw createHeldError(what, path, holder);
    if (takeOver(path, found, text, what)) return;
  }
}

/** One process at a time may work on a folder. The lock is a file of the folder and moves with it. */
export class FolderLock {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  /** The name of the lock within its folder. */
  static readonly NAME = 'lock';

  /**
   * @param kind what the folder is, in messages.
   * @throws UnavailableError naming the process that has it, StorageError for a link. The lock of a dead process of this machine is taken over, also if its
   * number belongs to another process by now.
   */
  static acquire(folder: string, kind: string): FolderLock {
    const holder: Holder = {
      pid: process.pid,
      host: hostname(),
      born: readProcessBirth(process.pid),
      namespace: readProcessNamespace(),
      nonce: randomBytes(8).toString('hex'),
    };
    const lock = new FolderLock(JSON.stringify(holder));
    acquireLock(join(folder, FolderLock.NAME), lock.#text, `${kind} ${folder}`);
    return lock;
  }

  /** Removes the lock from the folder, also if the folder was renamed; the lock of another process remains. */
  release(folder: string): void {
    removeOwn(join(folder, FolderLock.NAME), this.#text);
  }
}
