import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StorageError } from '../../core/errors/errors.ts';
import { findMailArchive, listHam, readHamMails, readSpamMails } from './mail-archive.ts';

const folder = mkdtempSync(join(tmpdir(), 'archive-'));
afterAll(() => rmSync(folder, { recursive: true }));
const joinGroupPath = (group: string, name: string) => join(folder, 'data', group, name);

/** No text in UTF-8. */
const BYTES = Uint8Array.of(0x68, 0xff, 0xe9, 0x00, 0x0a);

beforeAll(() => {
  for (const group of ['hard-ham-1', 'spam-1', 'easy-ham-2', 'easy-ham-1']) {
    mkdirSync(join(folder, 'data', group), { recursive: true });
    for (const name of ['00011.b.txt', '00002.a.txt', '00002.a.json']) writeFileSync(joinGroupPath(group, name), BYTES);
  }
});

test('lists the text files of the groups of ham, in order', () => {
  expect(listHam({ folder, version: '0' })).toEqual(
    ['easy-ham-1', 'easy-ham-2', 'hard-ham-1'].flatMap((group) =>
      ['00002.a.txt', '00011.b.txt'].map((name) => ({ group, path: joinGroupPath(group, name) })),
    ),
  );
});

test('gives the bytes of a mail as they are; the hard ones are bulk', () => {
  const mails = readHamMails({ folder, version: '0' });
  expect(mails.map(({ bulk }) => bulk)).toEqual([false, false, false, false, true, true]);
  for (const { read } of mails) expect([...read()]).toEqual([...BYTES]);
});

test('spam is read from its own groups', () => {
  const mails = readSpamMails({ folder, version: '0' });
  expect(mails.map(({ bulk }) => bulk)).toEqual([false, false]);
  expect(readSpamMails(findMailArchive())).toHaveLength(1896);
});

test('what cannot be read is named', () => {
  const list = () => listHam({ folder: join(folder, 'none'), version: '0' });
  expect(list).toThrow(StorageError);
  expect(list).toThrow(`: ${join(folder, 'none', 'data')}`);
});

test('the installed archive has its three groups of ham', () => {
  const archive = findMailArchive();
  expect(archive.version).toMatch(/^\d+\.\d+\.\d+$/);
  const sizes = new Map<string, number>();
  for (const { group } of listHam(archive)) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  expect([...sizes]).toEqual([
    ['easy-ham-1', 2500],
    ['easy-ham-2', 1400],
    ['hard-ham-1', 250],
  ]);
});
