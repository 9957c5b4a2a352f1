import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { StorageError } from '../errors/errors.ts';
import { mountSmallDisk } from '../files/small-disk.harness.ts';
import { FRAME_HEADER_BYTES } from './frame.ts';
import { appendAll, openJournal } from './journal.fixture.ts';
import type { Journal } from './journal.ts';
import { listSegments } from './segments.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-journal-faults-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'journal');
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

const entry = (text: string) => Buffer.from(text);
const append = (journal: Journal, text: string) => journal.append(entry(text), (sequence) => sequence);

/** Opens the journal again. */
async function expectStored(expected: readonly string[]): Promise<void> {
  const { journal, entries } = await openJournal(folder);
  expect([...entries]).toEqual(expected.map((text, i) => [i + 1, text]));
  expect(await append(journal, 'later')).toBe(expected.length + 1);
  await journal.close();
}

/** The limit of this process for the size of files, in bytes; a write that crosses it is short, and the next one fails. */
const limitFiles = (bytes: number | 'unlimited') =>
  spawnSync('prlimit', ['--pid', String(process.pid), `--fsize=${bytes}:`], { encoding: 'utf8' });
const canLimit = limitFiles('unlimited').status === 0;

test.skipIf(!canLimit)(
  'entries that the system cuts short are refused together, and the next ones are written',
  async () => {
    const { journal } = await openJournal(folder);
    await append(journal, 'first');
    limitFiles(4096);
    try {
      const large = 'x'.repeat(3001);
      const results = await Promise.allSettled(['small', large, large, 'behind'].map((text) => append(journal, text)));
      for (const result of results)
        expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StorageError' } });
      await expect(append(journal, large + large)).rejects.toThrow(
        /^cannot write \(EFBIG.*\): .*\.journal; free disk space and write again$/,
      );
      expect(await append(journal, 'second')).toBe(2);
    } finally {
      limitFiles('unlimited');
    }
    expect(await append(journal, 'third')).toBe(3);
    await journal.close();
    await expectStored(['first', 'second', 'third']);
  },
);

const mounted = join(root, 'small');
const canMount = mountSmallDisk(mounted, '64k');

test.skipIf(!canMount)('a full disk refuses entries until there is room', async () => {
  const full = join(mounted, 'journal');
  const { journal } = await openJournal(full);
  await append(journal, 'first');
  writeFileSync(join(mounted, 'ballast'), Buffer.alloc(20_011));
  const large = 'x'.repeat(10_007);
  const results = await Promise.allSettled(Array.from({ length: 7 }, () => append(journal, large)));
  for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: { name: 'StorageError' } });
  await expect(append(journal, 'x'.repeat(60_013))).rejects.toThrow(/ENOSPC/);
  rmSync(join(mounted, 'ballast'));
  expect(await append(journal, 'second')).toBe(2);
  await journal.close();
  const { journal: again, entries } = await openJournal(full);
  expect([...entries.values()]).toEqual(['first', 'second']);
  await again.close();
});

test.skipIf(!canMount)('a disk with room for an entry but not for zeros behind it has the entry', async () => {
  const full = join(mounted, 'lone');
  const { journal } = await openJournal(full);
  const written: string[] = [];
  const write = async () => {
    for (;;) {
      const text = String(written.length).padEnd(4096 - FRAME_HEADER_BYTES); // a page of the disk
      await append(journal, text);
      written.push(text);
    }
  };
  await expect(write()).rejects.toThrow(/^cannot write \(ENOSPC/); // of the next entry
  expect(written.length).toBeGreaterThan(7);
  await journal.close();
  const { journal: again, entries } = await openJournal(full);
  expect([...entries.values()]).toEqual(written);
  await again.close();
});

test('after its folder has vanished, entries are refused', async () => {
  const { journal } = await openJournal(folder);
  await append(journal, 'first');
  rmSync(folder, { recursive: true });
  const results = await Promise.allSettled(['a', 'b'].map((text) => append(journal, text)));
  for (const result of results) expect(result).toMatchObject({ reason: { name: 'StorageError' } });
  mkdirSync(folder);
  await expect(append(journal, 'c')).rejects.toThrow(
    /^cannot write \(the file was deleted\): .*; free disk space or restore the folder, then open it again$/,
  );
  await journal.close();
  await expectStored([]);
});

test('a segment that is missing its folder is refused, and entries are written once it is back', async () => {
  const { journal } = await openJournal(folder, { segmentBytes: 1 });
  await append(journal, 'first');
  renameSync(folder, `${folder}-away`);
  await expect(append(journal, 'lost')).rejects.toThrow(/^cannot write \(ENOENT/);
  renameSync(`${folder}-away`, folder);
  expect(await append(journal, 'second')).toBe(2);
  await journal.close();
  await expectStored(['first', 'second']);
});

test('a file that another program has changed is not written any more', async () => {
  const { journal } = await openJournal(folder);
  await appendAll(journal, [entry('first'), entry('second')]);
  const { path } = listSegments(folder)[0] as { path: string };
  truncateSync(path, 21);
  await expect(append(journal, 'third')).rejects.toThrow(/bytes instead of/);
  await expect(append(journal, 'fourth')).rejects.toThrow(StorageError);
  await journal.close();
});

/** The number of the file that this process has open at a path. */
function findOpenFile(path: string): number {
  const found = readdirSync('/proc/self/fd').find((name) => {
    try {
      return readlinkSync(`/proc/self/fd/${name}`) === path;
    } catch {
      return false; // the folder that is being read
    }
  });
  return Number(found);
}

describe.skipIf(!existsSync('/proc/self/fd'))('a file that fails and cannot be cut', () => {
  test.each(['always', 'interval'] as const)(
    'refuses entries until the journal is opened again, with fsync %s',
    async (fsync) => {
      const { journal } = await openJournal(folder, { fsync });
      await append(journal, 'first');
      closeSync(findOpenFile((listSegments(folder)[0] as { path: string }).path));
      await expect(append(journal, 'second')).rejects.toThrow(/^cannot write \(EBADF/);
      await expect(append(journal, 'third')).rejects.toThrow(/^cannot cut \(EBADF/);
      await expect(journal.close()).rejects.toThrow();
      await expectStored(['first']);
    },
  );
});
