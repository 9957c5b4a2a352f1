import { cpSync, mkdtempSync, type NoParamCallback, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FRAME_HEADER_BYTES } from './frame.ts';
import { openJournal } from './journal.fixture.ts';
import { listSegments } from './segments.ts';

/** The syncs so far: `h` by this thread, `o` by another one. */
let syncs = '';
/** Milliseconds of each sync by this thread; 0: nothing is synced. */
let duration = 0;

vi.mock('node:fs', async (importActual) => {
  const fs = await importActual<typeof import('node:fs')>();
  const fdatasync = (file: number, done: NoParamCallback) =>
    fs.fdatasync(file, (error) => {
      syncs += 'o';
      done(error);
    });
  const fdatasyncSync = (file: number) => {
    const end = performance.now() + duration;
    while (performance.now() < end);
    if (duration > 0) fs.fdatasyncSync(file);
    syncs += 'h';
  };
  return { ...fs, fdatasync, fdatasyncSync };
});

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ragpp-lone-'));
  duration = 1.5; // is long
});
afterEach(() => rmSync(folder, { recursive: true }));

test('each entry is synced before it is acknowledged; a long sync by this thread leaves ever more to another one', async () => {
  const { journal } = await openJournal(folder);
  syncs = '';
  for (let entry = 1; entry <= 120; entry++) {
    const synced = await journal.append(Buffer.from(`entry ${entry}`), () => syncs.length);
    expect(synced).toBe(entry);
  }
  expect(syncs).toBe(`oh${'o'.repeat(16)}h${'o'.repeat(32)}h${'o'.repeat(64)}h${'o'.repeat(3)}`);
  await journal.close();
  expect((await openJournal(folder)).entries.size).toBe(120);
});

test('entries that come together share a sync by another thread', async () => {
  const { journal } = await openJournal(folder);
  syncs = '';
  for (let round = 0; round < 5; round++)
    await Promise.all(Array.from({ length: 7 }, (_, i) => journal.append(Buffer.from(`${round} ${i}`), () => {})));
  expect(syncs).toBe('ooooo');
  await journal.close();
});

test('a writer that waits for its own entries alone lets other events in', async () => {
  const { journal } = await openJournal(folder);
  duration = 0;
  let isLetIn = false;
  for (let entry = 0; entry < 50_000 && !isLetIn; entry++) {
    await journal.append(Buffer.from('entry'), () => {});
    if (entry !== 1) continue;
    setTimeout(() => {
      isLetIn = true;
    });
  }
  expect(isLetIn).toBe(true);
  await journal.close();
});

/** The bytes of the segments of a journal, one after the other, in which zeros that end a segment are counted. */
const readSegments = (path: string) =>
  listSegments(path).map((segment) => {
    const bytes = readFileSync(segment.path);
    const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
    return { frames: end, zeros: bytes.length - end };
  });

test('entries that come alone are written over zeros, which every later form of the journal is without', async () => {
  const { journal } = await openJournal(folder);
  const texts = Array.from({ length: 7 }, (_, i) => `entry ${i + 1}`);
  const write = (text: string) => journal.append(Buffer.from(text), () => {});
  for (const text of texts.slice(0, 3)) await write(text);
  const frame = FRAME_HEADER_BYTES + 'entry 1'.length;
  expect(readSegments(folder)).toEqual([{ frames: 3 * frame, zeros: 4096 - frame }]);

  const killed = join(folder, 'killed'); // as a process leaves it that is killed now
  cpSync(listSegments(folder)[0]!.path, join(killed, listSegments(folder)[0]!.path.slice(folder.length)));
  const { journal: again, entries } = await openJournal(killed);
  expect([...entries.values()]).toEqual(texts.slice(0, 3));
  expect(readSegments(killed)).toEqual([{ frames: 3 * frame, zeros: 0 }]);
  await again.close();

  await Promise.all(texts.slice(3, 5).map(write)); // of two frames over zeros a power failure could leave the later
  expect(readSegments(folder)).toEqual([{ frames: 5 * frame, zeros: 0 }]);
  for (const text of texts.slice(5)) await write(text);
  expect(readSegments(folder)[0]!.zeros).toBeGreaterThan(0);
  await journal.rotate();
  for (const text of texts.slice(5)) await write(text);
  expect(readSegments(folder)).toEqual([{ frames: 7 * frame, zeros: 0 }, expect.anything()]);
  await journal.close();
  expect(readSegments(folder)).toEqual([7, 2].map((count) => ({ frames: count * frame, zeros: 0 })));
  expect([...(await openJournal(folder)).entries.values()]).toEqual([...texts, ...texts.slice(5)]);
});
