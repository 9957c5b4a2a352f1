import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ValidationError, WalCorruptedError } from '../errors/errors.ts';
import { appendAll, drawPayloads, openJournal, writeJournal } from './journal.fixture.ts';
import { Journal } from './journal.ts';
import { JOURNAL_START } from './position.ts';
import { listSegments } from './segments.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-lost-tail-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'journal');
const other = join(root, 'other');
beforeEach(() => {
  for (const path of [folder, other]) rmSync(path, { recursive: true, force: true });
});

const payloads = drawPayloads(13);
const text = (value: string) => Buffer.from(value);

async function readWarnings(path = folder): Promise<readonly string[]> {
  const { journal } = await openJournal(path);
  await journal.close();
  return journal.warnings;
}

/** A copy of the folder of a journal as a killed writer leaves it. */
async function leaveKilled(fsync: 'always' | 'interval' | 'never'): Promise<void> {
  const { journal } = await openJournal(folder, { fsync, intervalMs: 60_000 });
  await appendAll(journal, payloads);
  cpSync(folder, other, { recursive: true });
  await journal.close();
  rmSync(join(other, 'lock'));
}

test('whatever is cut from the end of a closed journal is reported with its number when it is opened', async () => {
  const { path, bytes, ends } = await writeJournal(folder, payloads);
  for (let size = bytes.byteLength; size >= 0; size--) {
    writeFileSync(path, bytes.subarray(0, size));
    const kept = ends.filter((end) => end <= size).length;
    const lost = payloads.length - kept;
    const range = lost === 1 ? 'change 13: 1' : `changes ${kept + 1} to 13: ${lost}`;
    const end = `acknowledged at its end ${lost === 1 ? 'is' : 'are'} missing; restore the folder from a copy, or make what is missing again`;
    expect(await readWarnings()).toEqual(lost === 0 ? [] : [`journal ${folder} has lost ${range} ${end}`]);
  }
});

test.each(['always', 'interval', 'never'] as const)(
  'what a killed writer with fsync %s has acknowledged is known: nothing is reported, unless it was cut',
  async (fsync) => {
    await leaveKilled(fsync);
    expect(await readWarnings(other)).toEqual([]);
    truncateSync(listSegments(other)[0]?.path as string, 40);
    expect((await readWarnings(other))[0]).toMatch(
      / has lost changes 2 to 13: 12 acknowledged at its end are missing;/,
    );
  },
);

test('a last segment that is gone is reported, until other entries are written', async () => {
  const { path } = await writeJournal(folder, payloads);
  rmSync(path);
  expect((await readWarnings())[0]).toMatch(/ has lost changes 1 to 13: 13 acknowledged/);
  const { journal } = await openJournal(folder);
  expect(journal.warnings).toHaveLength(1);
  await journal.append(text('new'), () => {});
  await journal.close();
  expect(await readWarnings()).toEqual([]);
});

test.each([
  ['missing', (path: string) => rmSync(path)],
  ['damaged', (path: string) => writeFileSync(path, readFileSync(path, 'utf8').replace('13', '12'))],
])('an end that is %s is a doubt', async (_, change) => {
  await writeJournal(folder, payloads);
  change(join(folder, 'end'));
  expect(await readWarnings()).toEqual([
    `journal ${folder} may have lost changes after 13: its file 'end' is missing or damaged; restore the folder from a copy if changes are missing`,
  ]);
});

test.each([
  ['always', 0],
  ['interval', 1],
  ['never', 1],
] as const)('a restart of the system after writes with fsync %s gives %i doubts', async (fsync, doubts) => {
  await leaveKilled(fsync);
  const path = join(other, 'end');
  const { boot, ...end } = JSON.parse(/^(.*\}) *[0-9a-f]{8}\n$/.exec(readFileSync(path, 'utf8'))?.[1] as string);
  const { computeCrc32 } = await import('../hash/hash.ts');
  const json = JSON.stringify({ ...end, boot: boot.replace(/./, 'z') });
  const crc = computeCrc32(text(json)).toString(16).padStart(8, '0');
  writeFileSync(path, `${json.padEnd(247)}${crc}\n`);
  const found = await readWarnings(other);
  expect(found).toHaveLength(doubts);
  if (doubts > 0) expect(found[0]).toMatch(/may have lost changes after 13: the system was started again before they/);
});

describe('the running hash', () => {
  test('tells an entry from another one of its number', async () => {
    await writeJournal(folder, payloads.slice(0, 5));
    await writeJournal(other, [...payloads.slice(0, 4), text('another')]);
    const { journal } = await openJournal(folder);
    const { journal: changed } = await openJournal(other);
    const [mine, its] = [journal.position, changed.position];
    expect([mine.sequence, its.sequence]).toEqual([5, 5]);
    expect([journal.holds(mine), journal.holds(its), journal.holds(JOURNAL_START)]).toEqual([true, false, true]);
    await journal.append(text('next'), () => {});
    expect([journal.holds(mine), journal.holds(its)]).toEqual([true, false]);
    expect(journal.describeLoss(its)).toMatch(
      /has lost acknowledged changes: its change 5 is another one than it was;/,
    );
    expect(journal.describeLoss({ ...mine, sequence: 7 })).toMatch(/has lost change 7: 1 acknowledged/);
    await journal.rotate();
    journal.dropThrough(6);
    expect(journal.holds(mine)).toBeNull();
    expect(journal.describeLoss(mine)).toBeNull();
    for (const opened of [journal, changed]) await opened.close();
  });

  test('refuses a segment that follows another history, and a snapshot of one', async () => {
    const write = async (path: string, first: string) => {
      const { journal } = await openJournal(path, { segmentBytes: 1 });
      for (const entry of [first, 'second', 'third']) await journal.append(text(entry), () => {});
      await journal.close();
      return { paths: listSegments(path).map((segment) => segment.path), position: journal.position };
    };
    const mine = await write(folder, 'first');
    const its = await write(other, 'another');
    await expect(openJournal(folder, { after: its.position })).rejects.toThrow(WalCorruptedError);
    rmSync(mine.paths[2] as string);
    const moved = (its.paths[2] as string).replace(other, folder);
    renameSync(its.paths[2] as string, moved);
    await expect(openJournal(folder)).rejects.toThrow(/it follows another entry 2 than the one that is there/);
  });
});

describe('a journal that is only read', () => {
  const openToRead = async (path: string) => {
    const journal = Journal.open(path, { readOnly: true });
    const entries: string[] = [];
    await journal.replay(JOURNAL_START, ({ payload }) => void entries.push(Buffer.from(payload).toString()));
    return { journal, entries };
  };

  test('has what a writer beside it has written, and changes nothing', async () => {
    const { journal: writer } = await openJournal(folder);
    await appendAll(writer, [text('one'), text('two')]);
    const { path } = listSegments(folder)[0] as { path: string };
    writeFileSync(path, 'torn', { flag: 'a' });
    const before = readFileSync(path);
    const { journal, entries } = await openToRead(folder);
    expect(entries).toEqual(['one', 'two']);
    expect(journal.warnings).toEqual([]);
    expect(() => journal.append(text('x'), () => {})).toThrow(/^journal is read-only: .*; open it without readOnly$/);
    await journal.close();
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(join(folder, 'lock'))).toBe(true);
    truncateSync(path, before.byteLength - 4);
    await writer.close();
  });

  test('must be there', async () => {
    expect(() => Journal.open(root, { readOnly: true })).toThrow(/^folder has no journal: .*; name another folder/);
    expect(() => Journal.open(folder, { readOnly: true })).toThrow(/ENOENT/);
  });
});

test('a folder of an earlier form says what to do', async () => {
  const { path } = await writeJournal(folder, payloads);
  renameSync(path, path.replace(/-[0-9a-f]{32}\.journal$/, '.journal'));
  expect(() => Journal.open(folder)).toThrow(ValidationError);
  expect(() => Journal.open(folder)).toThrow(/earlier form: .*; export it with the version that wrote it, and import/);
  expect(existsSync(join(folder, 'lock'))).toBe(false);
});
