import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findBuiltUrl } from '../built-module.harness.ts';
import { StorageError, UnavailableError } from '../errors/errors.ts';
import { FolderLock } from './folder-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'ragpp-lock-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => rmSync(join(folder, 'lock'), { force: true }));
const write = (holder: object) => writeFileSync(join(folder, 'lock'), JSON.stringify(holder));
/** The number of a process that has ended. */
const dead = spawnSync(process.execPath, ['-e', '']).pid;

test('a folder has one holder, who is named to the others, and none after the release', () => {
  const lock = FolderLock.acquire(folder, 'run folder');
  expect(() => FolderLock.acquire(folder, 'run folder')).toThrow(UnavailableError);
  expect(() => FolderLock.acquire(folder, 'run folder')).toThrow(
    `run folder ${folder} is not available: process ${process.pid} on ${hostname()} works on it; wait for it, or delete ${join(folder, 'lock')} if it has ended`,
  );
  lock.release(folder);
  expect(readdirSync(folder)).toEqual([]);
  FolderLock.acquire(folder, 'run folder').release(folder);
});

test.each([
  ['that is no more', { pid: dead, host: hostname(), born: '1' }],
  ['whose number another process has by now', { pid: process.pid, host: hostname(), born: 'long ago' }],
])('the lock of a process %s is taken over', (_, holder) => {
  write(holder);
  const lock = FolderLock.acquire(folder, 'run folder');
  expect(JSON.parse(readFileSync(join(folder, 'lock'), 'utf8'))).toMatchObject({ pid: process.pid });
  expect(readdirSync(folder)).toEqual(['lock']);
  lock.release(folder);
});

test.each([
  ['of another machine, whose processes cannot be seen', { pid: dead, host: 'elsewhere', born: '1' }],
  ['of another namespace of process numbers', { pid: dead, host: hostname(), born: '1', namespace: 'pid:[1]' }],
  ['that is none of ours', { hands: 'off' }],
])('a lock %s is left alone', (_, holder) => {
  write(holder);
  expect(() => FolderLock.acquire(folder, 'run folder')).toThrow(UnavailableError);
  expect(JSON.parse(readFileSync(join(folder, 'lock'), 'utf8'))).toEqual(holder);
});

test('a lock that somebody else has taken over meanwhile is not released', () => {
  const lock = FolderLock.acquire(folder, 'run folder');
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
  expect(() => FolderLock.acquire(folder, 'run folder')).toThrow(StorageError);
  expect(() => FolderLock.acquire(folder, 'run folder')).toThrow(/it is a symbolic link, .*lock; remove the link$/);
  expect(existsSync(pointed)).toBe(text !== null);
  rmSync(pointed, { force: true });
});

test.skipIf(!existsSync('/proc/self/stat'))(
  'the lock of an ended process without a parent that collects it is taken over',
  async () => {
    // The shell becomes `sleep`, which never collects the child that it started as a shell.
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 60']);
    try {
      const [text] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(text);
      const readFields = () => readFileSync(`/proc/${pid}/stat`, 'latin1').split(' ');
      while (readFields()[2] !== 'Z') await new Promise((resolve) => setTimeout(resolve, 3));
      write({ pid, host: hostname(), born: readFields()[21] });
      FolderLock.acquire(folder, 'run folder').release(folder);
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      parent.kill();
    }
  },
);

/** Takes the lock of folders 0, 1, ... as soon as each begins, and prints the folders that it got. */
const taker = (start: number, rounds: number) => `
  import { FolderLock } from ${JSON.stringify(findBuiltUrl('core/files/folder-lock'))};
  const won = [];
  for (let round = 0; round < ${rounds}; round++) {
    while (Date.now() < ${start} + round * 20);
    try {
      FolderLock.acquire(${JSON.stringify(folder)} + '/race-' + round, 'folder');
      won.push(round);
    } catch (error) {
      if (error.code !== 'UNAVAILABLE') throw error;
    }
  }
  console.log(JSON.stringify(won));
  process.stdin.resume(); // a process that ended would leave its last lock to a slower one
`;

test('of processes that find the lock of a dead one at the same time, one gets the folder', async () => {
  const rounds = 53;
  for (let round = 0; round < rounds; round++) {
    mkdirSync(join(folder, `race-${round}`));
    writeFileSync(join(folder, `race-${round}`, 'lock'), JSON.stringify({ pid: dead, host: hostname(), born: '1' }));
  }
  const program = taker(Date.now() + 2500, rounds);
  const takers = Array.from({ length: 3 }, () =>
    spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['pipe', 'pipe', 'inherit'],
    }),
  );
  const outputs = await Promise.all(takers.map(({ stdout }) => createInterface(stdout)[Symbol.asyncIterator]().next()));
  for (const { stdin } of takers) stdin.end();
  const won = outputs.flatMap(({ value }) => JSON.parse(value) as number[]);
  expect(won.sort((a, b) => a - b)).toEqual(Array.from({ length: rounds }, (_, round) => round));
  for (let round = 0; round < rounds; round++) expect(readdirSync(join(folder, `race-${round}`))).toEqual(['lock']);
});
