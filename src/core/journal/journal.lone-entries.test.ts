import { mkdtempSync, type NoParamCallback, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openJournal } from './journal.fixture.ts';

/** The syncs so far: `h` by this thread, each made longer than a millisecond, `o` by another one. */
let syncs = '';

vi.mock('node:fs', async (importActual) => {
  const fs = await importActual<typeof import('node:fs')>();
  const fdatasync = (file: number, done: NoParamCallback) =>
    fs.fdatasync(file, (error) => {
      syncs += 'o';
      done(error);
    });
  const fdatasyncSync = (file: number) => {
    const end = performance.now() + 1.5;
    while (performance.now() < end);
    fs.fdatasyncSync(file);
    syncs += 'h';
  };
  return { ...fs, fdatasync, fdatasyncSync };
});

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ragpp-lone-'));
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
