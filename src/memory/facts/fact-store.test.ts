import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ChecksumMismatchError,
  UnavailableError,
  ValidationError,
  WalCorruptedError,
} from '../../core/errors/errors.ts';
import { answerFromLog, type FactChange } from '../../index/graph/fact-graph.oracle.ts';
import { factLogs, factMoments } from '../../index/graph/facts.fixture.ts';
import { openStore } from '../store/open-store.ts';
import { createSampleRecord } from '../store/records.fixture.ts';
import { type FactStore, openFactStore } from './fact-store.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-facts-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'a', 'facts');
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

const createFact = (id: string, validFrom = 0) => ({ id, source: 'ann', target: id, relation: 'knows', validFrom });
const segments = () => readdirSync(folder).filter((name) => name.endsWith('.journal'));
const snapshots = () => readdirSync(folder).filter((name) => name.startsWith('snapshot-'));

function applyChange(store: FactStore, change: FactChange) {
  if (change.kind === 'assert') return store.assert(change.fact, change.recordedAt);
  const { kind: _, id, ...closing } = change;
  return store.supersede(id, closing);
}

/** Closes a store and opens it again. */
async function reopen(store: FactStore): Promise<FactStore> {
  await store.close();
  return openFactStore(folder);
}

/** What a store shows. */
const show = (store: FactStore) => ({
  versions: store.versions(),
  counts: [store.size, store.facts, store.lastRecordedAt],
});

describe.each([
  ['a folder', () => folder],
  ['memory', () => null],
])('a store of facts in %s', (_, choose) => {
  test('acknowledges a change that is seen, and refuses what may not follow', async () => {
    const store = await openFactStore(choose());
    const asserted = await store.assert({ ...createFact('a'), weight: 0.1 + 0.2 }, 5);
    expect(store.asOf()).toEqual([asserted]);
    const closed = await store.supersede('a', { validUntil: 3, recordedAt: 7 });
    expect(store.versions('a')).toEqual([{ ...asserted, supersededAt: 7 }, closed]);
    expect(store.neighbours('ann', { valid: 4, known: 6 })).toEqual([{ node: 'a', edge: asserted }]);
    const before = show(store);
    await expect(store.assert(createFact('a'), 8)).rejects.toThrow('fact is in the graph: a; supersede it');
    await expect(store.assert(createFact('b', Number.NaN), 8)).rejects.toThrow(ValidationError);
    await expect(store.assert(createFact('b'), 6)).rejects.toThrow('recordedAt is before the last one: 6 < 7');
    await expect(store.supersede('b', { validUntil: 3, recordedAt: 8 })).rejects.toThrow('not in the graph: b');
    expect(show(store)).toEqual(before);
    await store.close();
    await expect(store.assert(createFact('b'), 8)).rejects.toThrow(/^fact store is closed: .*; open it again$/);
    expect(() => store.snapshot()).toThrow(ValidationError);
  });

  test('decides among changes of the same time by their order', async () => {
    const store = await openFactStore(choose());
    const results = await Promise.allSettled([
      store.supersede('a', { validUntil: 3, recordedAt: 1 }),
      store.assert(createFact('a'), 1),
      store.assert(createFact('a'), 2),
      store.assert(createFact('b'), 2),
      store.supersede('a', { validUntil: 3, recordedAt: 1 }),
      store.supersede('a', { validUntil: 3, recordedAt: 2, by: 'b' }),
    ]);
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual([false, true, false, true, false, true]);
    expect(store.asOf({ valid: 5 }).map(({ id }) => id)).toEqual(['b']);
    await store.close();
  });

  test('keeps what it took from the caller', async () => {
    const store = await openFactStore(choose());
    const given = createFact('a');
    const written = store.assert(given, 1);
    given.target = 'changed';
    await written;
    expect(store.asOf()[0]?.target).toBe('a');
    await store.close();
  });
});

test('is the same after reopening, from the journal, a snapshot, and both', async () => {
  let store = await openFactStore(folder, { segmentBytes: 1000 });
  for (let i = 0; i < 31; i++) await store.assert({ ...createFact(`f${i}`, i / 7), weight: (i + 1) / 3 }, i);
  for (let i = 0; i < 31; i += 3) await store.supersede(`f${i}`, { validUntil: 40 + i, recordedAt: 50, by: 'f1' });
  const check = async () => {
    const before = show(store);
    store = await reopen(store);
    expect(show(store)).toEqual(before);
  };
  await check();
  expect(segments().length).toBeGreaterThan(2);
  await store.snapshot();
  expect([segments().length, snapshots()]).toEqual([1, ['snapshot-0000000000000042']]);
  await check();
  await expect(store.assert(createFact('early'), 49)).rejects.toThrow('49 < 50');
  await store.assert(createFact('late \ud800'), 51);
  await store.supersede('f0', { validUntil: 2, recordedAt: 52 });
  await check();
  await store.snapshot();
  await store.snapshot(); // nothing has changed
  expect([segments().length, snapshots()]).toEqual([1, ['snapshot-0000000000000044']]);
  await check();
  await store.close();
});

test('for every log, a store that was opened again answers as a replay of the log does', async () => {
  await fc.assert(
    fc.asyncProperty(factLogs, fc.nat(23), fc.array(factMoments, { minLength: 5 }), async (log, at, queries) => {
      rmSync(folder, { recursive: true, force: true });
      let store = await openFactStore(folder, { fsync: 'never' });
      const written = log.map((change) => applyChange(store, change));
      await written[at];
      if (at % 2 === 0) await store.snapshot();
      await Promise.all(written);
      store = await reopen(store);
      for (const moments of queries) expect(store.asOf(moments)).toEqual(answerFromLog(log, moments));
      await store.close();
    }),
    { numRuns: 31 },
  );
});

test('a snapshot has the changes before it, and not those that come while it is written', async () => {
  const store = await openFactStore(folder);
  await Promise.all(Array.from({ length: 8209 }, (_, i) => store.assert(createFact(`f${i}`), 1))); // three parts
  const supersede = (id: string, recordedAt: number) => store.supersede(id, { validUntil: 5, recordedAt });
  await Promise.all([store.snapshot(), supersede('f0', 2), supersede('f8208', 3), store.snapshot()]);
  const before = show(store);
  const again = await reopen(store);
  expect(show(again)).toEqual(before);
  expect([again.size, snapshots()]).toEqual([8211, ['snapshot-0000000000008211']]);
  await again.close();
});

/** Writes five changes. @returns what the store shows after each number of changes, and its segment. */
async function writeFive() {
  const store = await openFactStore(folder);
  const shown = [show(store)];
  for (const id of ['a', 'b', 'c', 'd']) {
    await store.assert(createFact(id), 1);
    shown.push(show(store));
  }
  await store.supersede('a', { validUntil: 9, recordedAt: 2, by: 'b' });
  shown.push(show(store));
  await store.close();
  const path = join(folder, segments()[0] as string);
  return { shown, path, bytes: readFileSync(path) };
}

test('a torn tail is cut: what opens is what was written before it, and more can be written', async () => {
  const { shown, path, bytes } = await writeFive();
  const found = new Set<number>();
  for (let end = 0; end <= bytes.length; end += 13) {
    writeFileSync(path, bytes.subarray(0, end));
    const store = await openFactStore(folder);
    expect(show(store)).toEqual(shown[store.size]);
    found.add(store.size);
    await store.close();
  }
  expect([...found]).toEqual([0, 1, 2, 3, 4]);
  const store = await openFactStore(folder);
  await store.assert(createFact('e'), 3);
  const again = await reopen(store);
  expect(again.versions('e')).toHaveLength(1);
  await again.close();
});

test('damage inside is an error that names the first lost change, and changes nothing', async () => {
  const { path, bytes } = await writeFive();
  bytes[bytes.indexOf('"b"')]! ^= 1;
  writeFileSync(path, bytes);
  await expect(openFactStore(folder)).rejects.toThrow(WalCorruptedError);
  await expect(openFactStore(folder)).rejects.toMatchObject({ sequence: 2 });
  expect(readFileSync(path)).toEqual(bytes);
});

test('a snapshot with a changed byte, and one of another store, is an error', async () => {
  await writeFive();
  const store = await openFactStore(folder);
  await store.snapshot();
  await store.close();
  const part = join(folder, snapshots()[0] as string, 'part-000000.jsonl');
  writeFileSync(part, readFileSync(part, 'utf8').replace('ann', 'bob'));
  await expect(openFactStore(folder)).rejects.toThrow(ChecksumMismatchError);
  await expect(openStore(folder)).rejects.toThrow(ChecksumMismatchError);
  expect(existsSync(join(folder, 'lock'))).toBe(false);
});

test('the journal of another store is refused, and stays as it is', async () => {
  const records = await openStore(folder);
  await records.put([createSampleRecord('a')]);
  await records.close();
  await expect(openFactStore(folder)).rejects.toThrow('change 1 is no operation of a fact store');
  const again = await openStore(folder);
  expect(again.size).toBe(1);
  await again.close();
});

test('a folder is open once, and its writer is named', async () => {
  const store = await openFactStore(folder);
  await expect(openFactStore(folder)).rejects.toThrow(UnavailableError);
  await expect(openFactStore(folder)).rejects.toThrow(
    `fact store ${folder} is not available: process ${process.pid} on`,
  );
  await store.assert(createFact('a'), 1);
  await store.snapshot();
  const reader = await openFactStore(folder, { readOnly: true });
  expect(show(reader)).toEqual(show(store));
  await expect(reader.assert(createFact('b'), 2)).rejects.toThrow('is read-only');
  await reader.close();
  await store.close();
});
