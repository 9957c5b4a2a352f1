import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { StorageError } from '../../core/errors/errors.ts';
import { readMailsAt } from './mail-archive.ts';

const folder = mkdtempSync(join(tmpdir(), 'mail-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ENVELOPE = 'From ana@x.example Thu Aug 22 09:07:00 2002\n';

beforeAll(() => {
  mkdirSync(join(folder, 'list', '2002'), { recursive: true });
  writeFileSync(join(folder, 'list', 'b.mbox'), `${ENVELOPE}\n>From one\n\n${ENVELOPE}\ntwo\n`);
  writeFileSync(join(folder, 'list', '2002', 'a.eml'), Uint8Array.of(0x68, 0xff, 0x0a));
  writeFileSync(join(folder, 'z.eml'), 'Subject: eggs\n\n>From three\n');
});

const readTextsAt = (path: string) => readMailsAt(path).map(({ read }) => Buffer.from(read()).toString('latin1'));

test('a folder holds the mails of all its files, in the order of their paths', () => {
  expect(readTextsAt(folder)).toEqual([
    'h\xff\n',
    `${ENVELOPE}\nFrom one\n\n`,
    `${ENVELOPE}\ntwo\n`,
    'Subject: eggs\n\n>From three\n',
  ]);
});

test('a file is a mailbox or a mail', () => {
  expect(readTextsAt(join(folder, 'list', 'b.mbox'))).toEqual([`${ENVELOPE}\nFrom one\n\n`, `${ENVELOPE}\ntwo\n`]);
  expect(readTextsAt(join(folder, 'z.eml'))).toEqual(['Subject: eggs\n\n>From three\n']);
});

test('none is bulk', () => {
  expect(readMailsAt(folder).map(({ bulk }) => bulk)).toEqual([false, false, false, false]);
});

test('what cannot be read is named', () => {
  const path = join(folder, 'none');
  expect(() => readMailsAt(path)).toThrow(StorageError);
  expect(() => readMailsAt(path)).toThrow(`: ${path}`);
});
