import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { UnavailableError, ValidationError, WalCorruptedError } from '../errors/errors.ts';
import { encodeFrames } from './frame.ts';
import { appendAll, drawPayloads, openJournal, writeJournal } from './journal.fixture.ts';
import { Journal } from './journal.ts';
import type { JournalPosition } from './position.ts';
import { listSegments } from './segments.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-journal-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'journal');
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

const payloads = drawPayloads(13);
const texts = payloads.map((payload) => Buffer.from(payload).toString());
const expectEntries = (entries: ReadonlyMap<number, string>, expected: readonly string[], first = 1) =>
  expect([...entries]).toEqual(expected.map((text, i) => [first + i, text]));

test.each(['always', 'interval', 'never'] as const)(
  'entries are read back in order, numbered from 1, with fsync %s',
  async (fsync) => {
    const { journal, entries } = await openJournal(folder, { fsync, intervalMs: 1 });
    expect(entries.size).toBe(0);
    expect(await appendAll(journal, payloads.slice(0, 5))).toEqual([1, 2, 3, 4, 5]);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(await appendAll(journal, payloads.slice(5))).toEqual([6, 7, 8, 9, 10, 11, 12, 13]);
    await journal.close();
    const again = await openJournal(folder, { fsync });
    expectEntries(again.entries, texts);
    expect(again.journal.sequence).toBe(13);
    expect(await again.journal.append(Buffer.from('next'), (sequence) => sequence)).toBe(14);
    await again.journal.close();
    expect(listSegments(folder)).toHaveLength(1);
  },
);

test('an entry in parts is the entry of their bytes', async () => {
  const { journal } = await openJournal(folder);
  const parts = ['', 'a', '', 'bc', 'd', ''].map((text) => Buffer.from(text));
  await Promise.all([parts, [], Buffer.from('abcd'), parts].map((payload) => journal.append(payload, () => {})));
  const { position } = journal;
  await journal.close();
  const again = await openJournal(folder);
  expectEntries(again.entries, ['abcd', '', 'abcd', 'abcd']);
  expect(again.journal.position).toEqual(position);
  await again.journal.close();
});

test('an entry is in the file when it is acknowledged, and its commit runs in the order of the entries', async () => {
  const { journal } = await openJournal(folder);
  const { path } = listSegments(folder)[0] as { path: string };
  const seen: number[] = [];
  await Promise.all(
    texts.map((text) =>
      journal.append(Buffer.from(text), (sequence) => {
        expect(readFileSync(path).includes(Buffer.from(text))).toBe(true);
        seen.push(sequence);
      }),
    ),
  );
  expect(seen).toEqual(texts.map((_, i) => i + 1));
  await expect(
    journal.append(Buffer.from('x'), () => {
      throw new RangeError('commit');
    }),
  ).rejects.toThrow(RangeError);
  expect(await journal.append(Buffer.from('y'), (sequence) => sequence)).toBe(15);
  await journal.close();
});

test.skipIf(!existsSync('/proc/self/io'))('entries of the same time are written together', async () => {
  const { journal } = await openJournal(folder, { fsync: 'never' });
  const countWrites = () => Number(/syscw: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))?.[1]);
  const before = countWrites();
  await appendAll(journal, new Array<Uint8Array>(1009).fill(Buffer.from('entry')));
  expect(countWrites() - before).toBeLessThan(101);
  await journal.close();
});

test('a file that ends anywhere has its whole entries, and continues after them', async () => {
  const { path, bytes, ends } = await writeJournal(folder, payloads.slice(0, 5));
  for (let size = 0; size <= bytes.byteLength; size++) {
    writeFileSync(path, bytes.subarray(0, size));
    const whole = ends.filter((end) => end <= size).length;
    const { journal, entries } = await openJournal(folder, { fsync: 'never' });
    expectEntries(entries, texts.slice(0, whole));
    expect(await journal.append(Buffer.from('new'), (sequence) => sequence)).toBe(whole + 1);
    await journal.close();
    const again = await openJournal(folder, { fsync: 'never' });
    expectEntries(again.entries, [...texts.slice(0, whole), 'new']);
    await again.journal.close();
  }
});

test('a changed byte is reported with the first lost entry, and the file stays; in the last entry it is a torn tail', async () => {
  const { path, bytes, ends } = await writeJournal(folder, payloads);
  const last = payloads.length - 1;
  const changes = fc.tuple(fc.nat(bytes.byteLength - 1), fc.integer({ min: 1, max: 255 }));
  const lastPlaces = Array.from({ length: 16 }, (_, i): [[number, number]] => [[(ends[last - 1] as number) + i, 128]]);
  await fc.assert(
    fc.asyncProperty(changes, async ([at, change]) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ change;
      writeFileSync(path, changed);
      const hit = ends.findIndex((end) => at < end);
      if (hit < last) {
        const error = await openJournal(folder).catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(WalCorruptedError);
        expect((error as WalCorruptedError).sequence).toBe(hit + 1);
        expect(readFileSync(path).equals(changed)).toBe(true);
      } else {
        const { journal, entries } = await openJournal(folder, { fsync: 'never' });
        expectEntries(entries, texts.slice(0, last));
        await journal.close();
      }
    }),
    { examples: lastPlaces, numRuns: 150 },
  );
});

test('bytes that were removed or inserted before the end are reported', async () => {
  const { path, bytes, ends } = await writeJournal(folder, payloads);
  const open = () => openJournal(folder);
  for (const [from, to] of [
    [3, 5],
    [ends[1], ends[3]],
    [0, ends[10]],
  ] as [number, number][]) {
    writeFileSync(path, Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]));
    await expect(open()).rejects.toThrow(`the first lost entry is ${ends.findIndex((end) => from < end) + 1};`);
  }
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 40), Buffer.from('?'), bytes.subarray(40)]));
  await expect(open()).rejects.toThrow(WalCorruptedError);
  await expect(open()).rejects.toThrow(
    /^damaged journal .*: no entry can be read at byte \d+, the first lost entry is \d+; restore/,
  );
});

test('an entry that holds frames is a torn tail when it is cut, also with the frames of another file', async () => {
  const { path, bytes, ends } = await writeJournal(folder, payloads);
  const { journal } = await openJournal(folder);
  await journal.append(
    Buffer.concat([
      ...encodeFrames(
        1,
        15,
        payloads.map((payload) => [payload]),
      ),
      bytes,
      Buffer.alloc(9),
    ]),
    () => {},
  );
  await journal.close();
  const whole = readFileSync(path);
  writeFileSync(path, whole.subarray(0, whole.byteLength - 1));
  const { journal: cut, entries } = await openJournal(folder);
  expectEntries(entries, texts);
  expect(readFileSync(path).byteLength).toBe(ends.at(-1));
  await cut.close();
});

test('a file that is made to be slow is reported', async () => {
  // Every 16 bytes seem to begin an entry that reaches the end: to check each of them would take 10^12 steps.
  const { path, ends } = await writeJournal(folder, payloads.slice(0, 3));
  const bytes = Buffer.alloc(2 ** 23);
  for (let at = 0; at < bytes.byteLength; at += 16) {
    bytes.writeUInt32LE(bytes.byteLength - at - 16, at);
    bytes.writeUInt32LE(4 + (at % 1021), at + 8);
  }
  writeFileSync(path, Buffer.concat([readFileSync(path).subarray(0, ends[2]), bytes]));
  await expect(openJournal(folder)).rejects.toThrow(/the first lost entry is 4;/);
});

describe('segments', () => {
  /** One entry in each. */
  async function writeSegments(count: number): Promise<string[]> {
    const { journal } = await openJournal(folder, { segmentBytes: 1 });
    for (let i = 0; i < count; i++) await journal.append(Buffer.from(`entry ${i + 1}`), () => {});
    await journal.close();
    return listSegments(folder).map(({ path }) => path);
  }
  /** The position of an entry, computed without the journal. */
  const positionOf = (sequence: number): JournalPosition => ({
    sequence,
    hash: Array.from({ length: sequence }, (_, i) => `entry ${i + 1}`).reduce(
      (hash, text) => createHash('sha256').update(`${hash}${text}`).digest('hex').slice(0, 32),
      '0'.repeat(32),
    ),
  });
  const list = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `entry ${from + i}`);

  test('follow each other, and are dropped when a snapshot has their entries', async () => {
    expect(await writeSegments(5)).toHaveLength(5);
    const { journal, entries } = await openJournal(folder, { after: positionOf(2) });
    expectEntries(entries, list(3, 5), 3);
    journal.dropThrough(2);
    expect(listSegments(folder).map(({ first }) => first)).toEqual([3, 4, 5]);
    await journal.rotate();
    await journal.rotate(); // a segment without an entry is not followed by another one
    journal.dropThrough(5);
    expect(listSegments(folder).map(({ first }) => first)).toEqual([6]);
    expect(await journal.append(Buffer.from('entry 6'), (sequence) => sequence)).toBe(6);
    await journal.close();
    const again = await openJournal(folder, { after: positionOf(5) });
    expectEntries(again.entries, ['entry 6'], 6);
    await again.journal.close();
    await expect(openJournal(folder, { after: positionOf(3) })).rejects.toThrow(
      /it begins with entry 6, the first lost entry is 4;/,
    );
  });

  test.each([
    ['the first', 0],
    ['one in the middle', 2],
  ])('%s is missed', async (_, index) => {
    const paths = await writeSegments(5);
    rmSync(paths[index] as string);
    await expect(openJournal(folder)).rejects.toThrow(`the first lost entry is ${index + 1};`);
    const { journal, entries } = await openJournal(folder, { after: positionOf(index + 1) });
    expectEntries(entries, list(index + 2, 5), index + 2);
    await journal.close();
  });

  test('cut or changed before the last one are damaged, unless a snapshot has the entries', async () => {
    const paths = await writeSegments(4);
    const path = paths[1] as string;
    const bytes = readFileSync(path);
    for (const damaged of [bytes.subarray(0, 7), Buffer.alloc(bytes.byteLength)]) {
      writeFileSync(path, damaged);
      await expect(openJournal(folder)).rejects.toThrow(/the first lost entry is 2;/);
      const { journal, entries } = await openJournal(folder, { after: positionOf(2) });
      expectEntries(entries, list(3, 4), 3);
      await journal.close();
    }
  });

  test('that a snapshot has overtaken are continued with its number', async () => {
    await writeSegments(2);
    const { journal, entries } = await openJournal(folder, { after: positionOf(7) });
    expect(entries.size).toBe(0);
    expect(await journal.append(Buffer.from('entry 8'), (sequence) => sequence)).toBe(8);
    await journal.close();
    const again = await openJournal(folder, { after: positionOf(7) });
    expectEntries(again.entries, ['entry 8'], 8);
    await again.journal.close();
  });

  test('with the same entries are damage', async () => {
    const paths = await writeSegments(2);
    copyFileSync(paths[1] as string, (paths[1] as string).replace(/[0-9a-f]{8}(?=-\w+\.journal$)/, 'ffffffff'));
    await expect(openJournal(folder)).rejects.toThrow(
      /begins with entry 2, which another file holds too, the first lost entry is 2;/,
    );
  });
});

describe('the folder', () => {
  test('has one writer, who is named to the others', async () => {
    const { journal } = await openJournal(folder, { kind: 'memory store' });
    expect(() => Journal.open(folder)).toThrow(UnavailableError);
    expect(() => Journal.open(folder)).toThrow(`process ${process.pid} on`);
    await journal.close();
    const { journal: next } = await openJournal(folder);
    await next.close();
    expect(readdirSync(folder).map((name) => name.replace(/.*\./, '.'))).toEqual(['.journal', 'end']);
  });

  test('may move while it is open', async () => {
    const { journal } = await openJournal(folder);
    renameSync(folder, `${folder}-moved`);
    await journal.append(Buffer.from('moved'), () => {});
    await journal.close();
    rmSync(join(`${folder}-moved`, 'lock'));
    const { journal: moved, entries } = await openJournal(`${folder}-moved`);
    expectEntries(entries, ['moved']);
    await moved.close();
  });

  test('is not written after the end, nor before it is read', async () => {
    const journal = Journal.open(folder);
    await expect(journal.append(Buffer.from('early'), () => {})).rejects.toThrow(/was not replayed.*; replay it first/);
    await journal.close();
    await journal.close();
    expect(() => journal.append(Buffer.from('late'), () => {})).toThrow(ValidationError);
    expect(() => journal.rotate()).toThrow(/^journal is closed: .*; open it again$/);
  });

  test('entries that wait at the end are written', async () => {
    const { journal } = await openJournal(folder, { fsync: 'interval' });
    const waiting = appendAll(journal, payloads);
    await journal.close();
    expect(await waiting).toHaveLength(payloads.length);
    const { journal: again, entries } = await openJournal(folder);
    expectEntries(entries, texts);
    await again.close();
  });
});
