import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { StorageError, UnavailableError } from '../../core/errors.ts';
import { RunLock } from './run-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-lock-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => rmSync(join(folder, 'lock'), { force: true }));
const write = (holder: object) => writeFileSync(join(folder, 'lock'), JSON.stringify(holder));
/** The number of a process that has ended. */
const dead = spawnSync(process.execPath, ['-e', '']).pid;

test('a folder has one holder, who is named to the others, and none after the release', () => {
  const lock = RunLock.acquire(folder);
  expect(() => RunLock.acquire(folder)).toThrow(UnavailableError);
  expect(() => RunLock.acquire(folder)).toThrow(
    `run folder ${folder} is not available: process ${process.pid} on ${hostname()} works on it; wait for it, or delete ${join(folder, 'lock')} if it has ended`,
  );
  lock.release(folder);
  expect(readdirSync(folder)).toEqual([]);
  RunLock.acquire(folder).release(folder);
});

test.each([
  ['that is no more', { pid: dead, host: hostname(), born: '1' }],
  ['whose number another process has by now', { pid: process.pid, host: hostname(), born: 'long ago' }],
])('the lock of a process %s is taken over', (_, holder) => {
  write(holder);
  const lock = RunLock.acquire(folder);
  expect(JSON.parse(readFileSync(join(folder, 'lock'), 'utf8'))).toMatchObject({ pid: process.pid });
  expect(readdirSync(folder)).toEqual(['lock']);
  lock.release(folder);
});

test.each([
  ['of another machine, whose processes cannot be seen', { pid: dead, host: 'elsewhere', born: '1' }],
  ['that is none of ours', { hands: 'off' }],
])('a lock %s is left alone', (_, holder) => {
  write(holder);
  expect(() => RunLock.acquire(folder)).toThrow(UnavailableError);
  expect(JSON.parse(readFileSync(join(folder, 'lock'), 'utf8'))).toEqual(holder);
});

test('a lock that somebody else has taken over meanwhile is not released', () => {
  const lock = RunLock.acquire(folder);
  write({ pid: 1, host: hostname(), born: '1' });
  lock.release(folder);
  expect(existsSync(join(folder, 'lock'))).toBe(true);
});

test.each([
  ['the lock of a process that is no more', JSON.stringify({ pid: dead, host: hostname(), born: '1' })],
  ['nothing', null],
])('a link to %s is refused, and what it points to stays', (_, text) => {
  const pointed = join(folder, 'elsewhere');
  if (text !== null) writeFileSync(pointed, text);
  symlinkSync(pointed, join(folder, 'lock'));
  expect(() => RunLock.acquire(folder)).toThrow(StorageError);
  expect(() => RunLock.acquire(folder)).toThrow(/it is a symbolic link, .*lock; remove the link$/);
  expect(existsSync(pointed)).toBe(text !== null);
  rmSync(pointed, { force: true });
});
