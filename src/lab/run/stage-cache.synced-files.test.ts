import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { writeAtomic } from '../../core/files/files.ts';
import { readPrepared, writePrepared } from '../../data/mail/mail-dataset.ts';
import { StageCache } from './stage-cache.ts';

let syncs = 0;
vi.mock('node:fs', async (importActual) => {
  const fs = await importActual<typeof import('node:fs')>();
  const fsyncSync = (file: number) => {
    syncs++;
    fs.fsyncSync(file);
  };
  return { ...fs, fsyncSync };
});

const folder = mkdtempSync(join(tmpdir(), 'ragpp-syncs-'));
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  syncs = 0;
});

test('a file is on the disk when it has its name', () => {
  writeAtomic(join(folder, 'record.json'), '{}');
  expect(syncs).toBe(1);
});

test('what a cache can make again waits for no disk', () => {
  const cache = new StageCache(folder);
  const stage = { name: 'some-stage', key: 'a', inputs: [], isKept: true };
  cache.write(stage, { values: Float64Array.of(1 / 3) });
  expect(cache.read(stage)).toEqual({ values: Float64Array.of(1 / 3) });
  const prepared = { turns: [], queries: [], devConversations: [], facts: { mails: 3 } };
  writePrepared(join(folder, 'mails.jsonl'), prepared);
  expect(readPrepared(join(folder, 'mails.jsonl'))).toEqual(prepared);
  expect(readFileSync(join(folder, 'mails.jsonl'), 'utf8')).toContain('sha256');
  expect(syncs).toBe(0);
});
