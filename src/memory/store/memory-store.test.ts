import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ConfigurationError,
  DimensionMismatchError,
  DuplicateRecordError,
  NotFiniteError,
  RecordNotFoundError,
  UnavailableError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import { updateOutcomeStatistics } from '../outcomes/outcome-statistics.ts';
import type { MemoryStore } from './memory-store.ts';
import { openStore } from './open-store.ts';
import { createSampleRecord, createSampleRecords } from './records.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-store-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'a', 'store');
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

const list = (store: MemoryStore) => [...store.records()];
const segments = () => readdirSync(folder).filter((name) => name.endsWith('.journal'));
const snapshots = () => readdirSync(folder).filter((name) => name.startsWith('snapshot-'));

/** Closes a store and opens it again. */
async function reopen(store: MemoryStore): Promise<MemoryStore> {
  await store.close();
  return openStore(folder);
}

describe.each([
  ['a folder', () => folder],
  ['memory', () => null],
])('a store in %s', (_, choose) => {
  test('has what was put, removed and observed', async () => {
    const store = await openStore(choose());
    expect([store.size, store.sequence, store.dimension]).toEqual([0, 0, null]);
    const records = createSampleRecords(5);
    await store.put(records);
    expect(await store.remove(['r1', 'none', 'r1', 'r3'])).toBe(2);
    const stats = await store.observe('r2', 0.25);
    expect(stats).toEqual(updateOutcomeStatistics((records[2] as { stats: typeof stats }).stats, 0.25));
    expect(list(store)).toEqual([records[0], { ...records[2], stats }, records[4]]);
    expect([store.size, store.sequence, store.dimension]).toEqual([3, 3, 7]);
    expect([store.has('r2'), store.has('r1'), store.get('r1')]).toEqual([true, false, null]);
    expect(store.get('r2')).toEqual({ ...records[2], stats });
    await store.close();
  });

  test('forgets records, and their ids where others name them, as one change', async () => {
    const store = await openStore(choose());
    const [gone, child, old, other] = createSampleRecords(4) as [
      MemoryRecord,
      MemoryRecord,
      MemoryRecord,
      MemoryRecord,
    ];
    const metadata = { status: 'superseded', supersededBy: 'r0' };
    await store.put([gone, { ...child, parentId: 'r0' }, { ...old, metadata, parentId: 'r1' }, other]);
    await store.observe('r1', 0.5);
    const seen: unknown[] = [];
    const before = store.position;
    store.watch((ids, observed) => seen.push([[...ids], observed]));
    expect([await store.forget(['none']), store.sequence]).toEqual([0, 2]);
    const [removed, stats] = await Promise.all([store.forget(['r0', 'none']), store.observe('r1', 1)]);
    expect([removed, stats.count, store.sequence, seen]).toEqual([
      ...[1, 2, 4],
      [
        [['r0', 'r1', 'r2'], null],
        [[], 'r1'],
      ],
    ]);
    const after = choose() === null ? store : await reopen(store);
    const kept = { ...old, metadata: { status: 'superseded' }, parentId: 'r1' };
    expect(list(after)).toEqual([{ ...child, parentId: null, stats }, kept, other]);
    expect(after.attributes.has('supersededBy')).toBe(false);
    if (after !== store) expect(after.listChangesSince(before)?.sort()).toEqual(['r0', 'r1', 'r2']);
    await after.close();
  });

  test('refuses what would break its rules, and is as before then', async () => {
    const store = await openStore(choose());
    const records = createSampleRecords(3);
    await store.put(records);
    const [first] = records as [(typeof records)[0]];
    const other = createSampleRecord('other');
    await expect(store.put([other, first])).rejects.toThrow(DuplicateRecordError);
    await expect(store.put([other, other], { replace: true })).rejects.toThrow(DuplicateRecordError);
    await expect(store.put([other, createSampleRecord('wide', 11)])).rejects.toThrow(DimensionMismatchError);
    await expect(store.put([{ ...other, embedding: Float32Array.of(1, 2, 3, Number.NaN, 5, 6, 7) }])).rejects.toThrow(
      NotFiniteError,
    );
    await expect(store.put([{ ...other, colour: 'red' } as typeof other])).rejects.toThrow(ConfigurationError);
    await expect(store.observe('none', 1)).rejects.toThrow(RecordNotFoundError);
    await expect(store.observe('r1', Number.NaN)).rejects.toThrow(NotFiniteError);
    await store.put([]);
    expect(list(store)).toEqual(records);
    expect(store.sequence).toBe(1);
    await store.close();
    await expect(store.put([other])).rejects.toThrow(ValidationError);
  });

  test('decides among changes of the same time by their order', async () => {
    const store = await openStore(choose());
    const record = createSampleRecord('a');
    const results = await Promise.allSettled([
      store.observe('a', 1),
      store.put([record]),
      store.put([record]),
      store.observe('a', 2),
      store.remove(['a']),
      store.observe('a', 3),
      store.remove(['a']),
      store.put([createSampleRecord('a', 11)]),
      store.put([record]),
    ]);
    const outcomes = results.map((result) => (result.status === 'rejected' ? result.reason.name : result.value));
    expect(outcomes).toMatchObject([
      'RecordNotFoundError',
      undefined,
      'DuplicateRecordError',
      { count: 1, mean: 2 },
      1,
      'RecordNotFoundError',
      0,
      'DimensionMismatchError',
      undefined,
    ]);
    expect(list(store)).toEqual([record]);
    expect(store.sequence).toBe(4);
    await store.close();
  });

  test('keeps its records from those who have them', async () => {
    const store = await openStore(choose());
    const record = createSampleRecord('a');
    const embedding = record.embedding.slice();
    const given = { ...record, metadata: { ...record.metadata } };
    await store.put([given]);
    given.embedding[0] = 9;
    given.metadata.phase = 'changed';
    const taken = store.get('a') as typeof record;
    taken.embedding[1] = 9;
    expect(() => Object.assign(taken.metadata, { phase: 'changed' })).toThrow(TypeError);
    expect(() => Object.assign(taken, { outcome: 1 })).toThrow(TypeError);
    expect(store.get('a')).toEqual({ ...createSampleRecord('a'), embedding });
    await store.close();
  });
});

test('a record is replaced as a whole, with its statistics', async () => {
  const store = await openStore(folder);
  await store.put([createSampleRecord('a'), createSampleRecord('b')]);
  await store.observe('a', 1);
  await store.put([createSampleRecord('a', 7, 5), createSampleRecord('c')], { replace: true });
  const expected = [createSampleRecord('a', 7, 5), createSampleRecord('b'), createSampleRecord('c')];
  expect(list(store)).toEqual(expected);
  const again = await reopen(store);
  expect(list(again)).toEqual(expected);
  await again.close();
});

test('the latest time is that of the records after any changes, and at every moment before', async () => {
  const random = createRandom(41, 'times');
  const findNewest = (records: readonly MemoryRecord[]) =>
    records.length === 0 ? null : Math.max(...records.map(({ createdAt }) => createdAt));
  const store = await openStore(folder, { history: true });
  const expected: (number | null)[] = [null];
  for (let change = 1; change <= 120; change++) {
    const [id, version] = [`r${random.integer(3)}`, random.integer(11)];
    if (store.has(id) && version < 6) await (version < 3 ? store.remove([id]) : store.forget([id]));
    else if (store.has(id) && version < 7) await store.observe(id, 1);
    else await store.put([createSampleRecord(id, 7, version)], { replace: true });
    expected.push(findNewest(list(store)));
    if (random.integer(3) > 0) expect(store.newestTime, `change ${change}`).toBe(expected.at(-1));
  }
  expect(expected).toContain(null);
  for (const sequence of [0, 29, 77, 120]) {
    const then = store.at({ sequence });
    expect(then.newestTime).toBe(findNewest(list(then)));
  }
  const again = await reopen(store);
  expect(again.newestTime).toBe(expected.at(-1));
  await again.close();
});

test('is the same after reopening, from the journal, a snapshot, and both', async () => {
  let store = await openStore(folder, { segmentBytes: 3000 });
  const records = createSampleRecords(31);
  for (const record of records) await store.put([record]);
  for (let i = 0; i < 31; i += 3) await store.observe(`r${i}`, 1e9 + i / 7);
  await store.remove(['r4', 'r20']);
  const check = async () => {
    const before = { records: list(store), sequence: store.sequence, dimension: store.dimension };
    store = await reopen(store);
    expect({ records: list(store), sequence: store.sequence, dimension: store.dimension }).toEqual(before);
  };
  await check();
  expect(segments().length).toBeGreaterThan(2);
  await store.snapshot();
  expect([segments().length, snapshots()]).toEqual([1, ['snapshot-0000000000000043']]);
  await check();
  await store.put([createSampleRecord('late')]);
  await store.observe('r6', 3);
  await check();
  await store.snapshot();
  await store.snapshot(); // nothing has changed
  expect([segments().length, snapshots()]).toEqual([1, ['snapshot-0000000000000045']]);
  await check();
  await store.remove(list(store).map(({ id }) => id));
  expect(store.dimension).toBeNull();
  await store.snapshot();
  await check();
  await store.put([createSampleRecord('narrow', 3)]);
  await check();
  await store.close();
});

test('a snapshot has the changes before it, and not those that come while it is written', async () => {
  const store = await openStore(folder);
  await store.put(createSampleRecords(8195, 2)); // more than a part
  const during = [
    store.snapshot(),
    store.put([createSampleRecord('during', 2)]),
    store.observe('r1', 1),
    store.snapshot(),
  ];
  await Promise.all(during);
  const before = list(store);
  expect(before).toHaveLength(8196);
  const again = await reopen(store);
  expect(list(again)).toEqual(before);
  expect([again.sequence, snapshots()]).toEqual([3, ['snapshot-0000000000000003']]);
  await again.close();
});

test('a record keeps at most 256 KiB of the vectors of others, also after reopening', async () => {
  const listArrays = (store: MemoryStore) =>
    new Set(Array.from({ length: store.size }, (_, i) => store.view(`r${i}`)!.embedding.buffer));
  const measure = (store: MemoryStore) => Array.from(listArrays(store), ({ byteLength }) => byteLength);
  const records = createSampleRecords(101, 1021);
  const store = await openStore(folder);
  await store.put(records);
  expect(measure(store)).toEqual([2 ** 18, 37 * 1021 * 4]); // 64 vectors of 1021 numbers, and the others
  await store.close();
  const again = await openStore(folder);
  expect(measure(again)).toEqual([64 * 1021 * 4, 37 * 1021 * 4]);
  expect([...again.records()]).toEqual(records);
  await again.close();
  const wide = await openStore(null);
  await wide.put([createSampleRecord('r0', 2 ** 16 + 3), createSampleRecord('r1', 2 ** 16 + 3)]);
  expect(measure(wide)).toEqual([2 ** 18 + 12, 2 ** 18 + 12]);
});

test('the dimension asked for is that of every record', async () => {
  const store = await openStore(folder, { dimension: 7 });
  await expect(store.put([createSampleRecord('a', 11)])).rejects.toThrow(/embedding of record a: expected 7, got 11/);
  await store.put([createSampleRecord('a')]);
  await store.close();
  await expect(openStore(folder, { dimension: 11 })).rejects.toThrow(
    'dimension of the memory store: expected 7, got 11; open it with its own dimension',
  );
  await (await openStore(folder, { dimension: 7 })).close();
});

test('a folder is open once, and its writer is named', async () => {
  const store = await openStore(folder);
  await expect(openStore(folder)).rejects.toThrow(UnavailableError);
  await expect(openStore(folder)).rejects.toThrow(`memory store ${folder} is not available: process ${process.pid} on`);
  await store.close();
  expect(existsSync(join(folder, 'lock'))).toBe(false);
});
