import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Counts } from '../prepared/prepared.ts';
import { readHamMails } from './mail-archive.ts';
import { type DatedMail, readMails } from './read-mails.ts';

const folder = mkdtempSync(join(tmpdir(), 'ham-'));
afterAll(() => rmSync(folder, { recursive: true }));

const DATE = 'Thu, 22 Aug 2002 09:07:00 +0000';

function write(group: string, name: string, headers: readonly string[]): void {
  mkdirSync(join(folder, 'data', group), { recursive: true });
  writeFileSync(join(folder, 'data', group, name), `${headers.join('\n')}\n\nText of ${group} ${name}.\n`);
}

const counts = new Counts();
const done: number[] = [];
const remarks: (string | undefined)[] = [];
let mails: ReadonlyMap<string, DatedMail>;

beforeAll(async () => {
  for (let i = 0; i < 53; i++) write('easy-ham-1', `${10 + i}.txt`, [`Date: ${DATE}`, `Message-Id: <easy-${i}@x>`]);
  write('easy-ham-1', '71.txt', [`Date: ${DATE}`, 'Message-Id: <easy-3@x>']);
  write('easy-ham-1', '73.txt', ['Date: Thu, 22 Aug 2002 09:07:00 +0000']);
  write('easy-ham-1', '79.txt', ['Date: never', 'Message-Id: <undated@x>']);
  write('easy-ham-1', '83.txt', [
    'Received: from a by b; Thu, 1 Aug 2002 09:07:00 +0000',
    `Date: ${DATE}`,
    'Message-Id: <late@x>',
  ]);
  write('easy-ham-1', '89.txt', [`Date: ${DATE}`, 'Message-Id: <item@x>', 'From: Feed <RSSfeeds@x.example>']);
  write('hard-ham-1', '10.txt', [`Date: ${DATE}`, 'Message-Id: <hard@x>', 'From: Ann <not-rssfeeds@x.example>']);
  mails = await readMails(readHamMails({ folder, version: '0' }), counts, (stage, total) => {
    expect([stage, total]).toEqual(['read mails', 59]);
    return { update: (count) => void done.push(count), finish: (remark) => void remarks.push(remark) };
  });
});

test('mails are kept by id, in the order of the files, the first of an id', () => {
  const easy = Array.from({ length: 53 }, (_, i) => `<easy-${i}@x>`);
  expect([...mails.keys()]).toEqual([...easy, '<late@x>', '<hard@x>']);
  expect(mails.get('<easy-3@x>')?.body).toBe('Text of easy-ham-1 13.txt.\n');
});

test('each has its time, and is bulk where its group is hard', () => {
  expect(mails.get('<easy-0@x>')).toMatchObject({ time: Date.UTC(2002, 7, 22, 9, 7), bulk: false });
  expect(mails.get('<late@x>')).toMatchObject({ time: Date.UTC(2002, 7, 1, 9, 7), bulk: false });
  expect([...mails.values()].filter(({ bulk }) => bulk).map(({ id }) => id)).toEqual(['<hard@x>']);
});

test('each fault is counted, also those that there are none of', () => {
  expect(Object.entries(counts.toFacts())).toEqual([
    ['mails read', 59],
    ['skipped: unreadable', 0],
    ['skipped: no id', 1],
    ['skipped: id seen', 1],
    ['skipped: no date', 1],
    ['dropped: RSS items', 1],
    ['dates taken from Received', 1],
  ]);
});

test('progress is reported from time to time', () => {
  expect(done).toEqual([0, 50]);
  expect(remarks).toEqual(['55 of 59 mails kept']);
});
