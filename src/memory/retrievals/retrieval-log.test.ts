import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { StorageError, ValidationError } from '../../core/errors/errors.ts';
import { Journal } from '../../core/journal/journal.ts';
import { JOURNAL_START } from '../../core/journal/position.ts';
import { openRetrievalLog, type RetrievalLog } from './retrieval-log.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-retrievals-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'log');
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

const TEXT = 'Where is the cherry tree?';
const retrieval = {
  query: TEXT,
  session: 'talk-7',
  retrieved: ['garden-1', 'garden-2'],
  strategy: 'factual',
  time: 11,
};

async function withLog<T>(work: (log: RetrievalLog) => Promise<T>): Promise<T> {
  const log = await openRetrievalLog(folder);
  try {
    return await work(log);
  } finally {
    await log.close();
  }
}

const readFiles = () =>
  readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');

test('retrievals and their use are read back, and no file has a text or an id', async () => {
  const before = await withLog(async (log) => {
    const first = await log.record(retrieval);
    const second = await log.record({ ...retrieval, session: null, propensity: 0.25, teams: ['b', 'a'], time: 13 });
    await log.recordUse(second, ['garden-2'], 17);
    expect([first, second]).toEqual([1, 2]);
    return log.events();
  });
  await withLog(async (log) => {
    expect(log.events()).toEqual(before);
    const retrieved = ['garden-1', 'garden-2'].map((id) => log.hash('memory', id));
    const query = log.hash('query', TEXT);
    expect(log.events()).toEqual([
      {
        ...{ event: 1, query, session: log.hash('session', 'talk-7'), retrieved, used: null, strategy: 'factual' },
        ...{ propensity: 1, teams: null, time: 11 },
      },
      {
        ...{ event: 2, query, session: null, retrieved, used: [retrieved[1]], strategy: 'factual' },
        ...{ propensity: 0.25, teams: ['b', 'a'], time: 13 },
      },
    ]);
    expect(log.hash('memory', TEXT)).not.toBe(query);
  });
  expect(readFiles()).not.toMatch(/cherry|garden|talk/);
});

test('another log has another key, so its hashes differ', async () => {
  const one = await withLog(async (log) => log.hash('query', TEXT));
  rmSync(folder, { recursive: true });
  expect(await withLog(async (log) => log.hash('query', TEXT))).not.toBe(one);
});

test('a key that others may read, that is lost or that is no key is refused', async () => {
  await withLog((log) => log.record(retrieval));
  const key = join(folder, 'key');
  expect(statSync(key).mode & 0o777).toBe(0o600);
  chmodSync(key, 0o644);
  await expect(openRetrievalLog(folder)).rejects.toThrow(StorageError);
  await expect(openRetrievalLog(folder)).rejects.toThrow(/permissions 644, .*; chmod 600 /);
  chmodSync(key, 0o600);
  truncateSync(key, 9);
  await expect(openRetrievalLog(folder)).rejects.toThrow(/is not 64 hex digits/);
  rmSync(key);
  await expect(openRetrievalLog(folder)).rejects.toThrow(/^key of a log with 1 entries is missing: /);
  expect(readdirSync(folder)).not.toContain('key');
});

test('use is recorded once, of what was retrieved, and not before', async () => {
  await withLog(async (log) => {
    const event = await log.record(retrieval);
    await expect(log.recordUse(event, ['garden-3'], 12)).rejects.toThrow(/event 1 did not retrieve: garden-3/);
    await expect(log.recordUse(event, [], 10)).rejects.toThrow(/before that of event 1: 10; pass 11 or later/);
    await expect(log.recordUse(2, [], 12)).rejects.toThrow(/no such event: 2/);
    const both = await Promise.allSettled([log.recordUse(event, [], 12), log.recordUse(event, ['garden-1'], 12)]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect(log.events()[0]?.used).toEqual([]);
  });
});

test.each([
  [{ time: 1.5 }, /no whole number: 1.5/],
  [{ propensity: 0 }, /above 0: 0/],
  [{ strategy: '' }, /no name/],
  [{ retrieved: ['a', 'a'] }, /twice: a, a/],
  [{ teams: ['a'] as const }, /teams of 2 ids: 1/],
])('%o is refused, and nothing is logged', async (change, message) => {
  await withLog(async (log) => {
    await expect(log.record({ ...retrieval, ...change })).rejects.toThrow(ValidationError);
    await expect(log.record({ ...retrieval, ...change })).rejects.toThrow(message);
    expect(log.events()).toEqual([]);
  });
});

test('the folder of another log is refused', async () => {
  const journal = Journal.open(folder);
  await journal.replay(JOURNAL_START, () => {});
  await journal.append(Buffer.from('{"kind":"curate"}'), () => {});
  await journal.close();
  await expect(openRetrievalLog(folder)).rejects.toThrow(/^entry 1 is of no log of retrievals; open the folder with/);
});
