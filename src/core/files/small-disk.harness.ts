import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { afterAll } from 'vitest';

/** Mounts a disk in memory of this size at a new folder, until the tests of the file have ended; false, with a printed reason, where mounting is not allowed. */
export function mountSmallDisk(folder: string, size: string): boolean {
  mkdirSync(folder);
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  if (status === 0) afterAll(() => void spawnSync('umount', [folder]));
  else console.log('a full disk is not tested: mounting a tmpfs needs root');
  return status === 0;
}
