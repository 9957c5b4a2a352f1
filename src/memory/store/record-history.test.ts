import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { ChecksumMismatchError, DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import type { MemoryStore } from './memory-store.ts';
import { openStore } from './open-store.ts';
import type { StoreMoment } from './record-history.ts';
import { createSampleRecord, createSampleRecords } from './records.fixture.ts';
import { repairStore } from './repair-store.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-history-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'store');
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

const list = (store: MemoryStore) => [...store.records()];
const listIds = (store: MemoryStore, moment: StoreMoment) => list(store.at(moment)).map(({ id }) => id);
const [first, second, third] = createSampleRecords(3) as [MemoryRecord, MemoryRecord, MemoryRecord];
const replaced = createSampleRecord('r0', 7, 5);

/** Six changes, at 10, 20, 20, 40, 40 and 60: the clock goes back once. */
async function fill(store: MemoryStore, keep = async (kept: MemoryStore) => kept): Promise<MemoryStore> {
  let filled = store;
  await filled.put([first, second]);
  await filled.observe('r0', 0.5);
  filled = await keep(filled);
  await filled.put([replaced, third], { replace: true });
  await filled.remove(['r1']);
  filled = await keep(filled);
  await filled.put([second]);
  await filled.remove(['r2', 'r0']);
  return keep(filled);
}

function createClock(times: readonly number[]) {
  const left = [...times];
  return () => left.shift() as number;
}

const clock = () => createClock([10, 20, 15, 40, 40, 60]);

describe.each([
  ['kept in memory', null, async (store: MemoryStore) => store],
  ['opened from its journal', folder, reopen],
  [
    'opened from a snapshot',
    folder,
    async (store: MemoryStore, times: () => number) => {
      await store.snapshot();
      return reopen(store, times);
    },
  ],
])('a history that is %s', (_, place, keep) => {
  test('has the records after each change, in the order in which they were added', async () => {
    const times = clock();
    const store = await fill(await openStore(place, { history: true, clock: times }), (kept) => keep(kept, times));
    const moments = Array.from({ length: 7 }, (_, sequence) => listIds(store, { sequence }));
    expect(moments).toEqual([
      [],
      ['r0', 'r1'],
      ['r0', 'r1'],
      ['r0', 'r1', 'r2'],
      ['r0', 'r2'],
      ['r0', 'r2', 'r1'],
      ['r1'],
    ]);
    const [before, after, late] = [1, 2, 3].map((sequence) => store.at({ sequence }).get('r0'));
    expect([before, after?.stats.mean, late]).toEqual([first, 0.5, replaced]);
    expect([store.at({ sequence: 4 }).sequence, store.at({ sequence: 6 }).position]).toEqual([4, store.position]);
    const versions = store.pastVersions.map(({ record: { id }, from, until }) => `${id} ${from} ${until}`);
    expect(versions.sort()).toEqual(['r0 1 2', 'r0 2 3', 'r0 3 6', 'r1 1 4', 'r2 3 6']);
    const getVector = (change: number) =>
      store.pastVersions.find(({ record: { id }, from }) => id === 'r0' && from === change)?.record.embedding;
    expect(getVector(1)).toBe(getVector(2));
    expect(getVector(3)).not.toEqual(getVector(2));
    await store.close();
  });

  test('finds a moment by its time', async () => {
    const times = clock();
    const store = await fill(await openStore(place, { history: true, clock: times }), (kept) => keep(kept, times));
    const found = [9, 10, 19, 20, 39, 40, 59, 60, 1e15].map((known) => store.at({ known }).sequence);
    expect(found).toEqual([0, 1, 1, 3, 3, 5, 5, 6, 6]);
    await store.close();
  });
});

async function reopen(store: MemoryStore, times: () => number): Promise<MemoryStore> {
  await store.close();
  return openStore(folder, { clock: times }); // a folder keeps its history without the option
}

test('a moment that is not known is an error, and so is a history that is not kept', async () => {
  const plain = await openStore(folder);
  await plain.put([first]);
  expect(() => plain.at({ sequence: 1 })).toThrow(/^memory has no history; open it with history: true/);
  await plain.snapshot();
  await plain.close();
  const store = await openStore(folder, { history: true, clock: createClock([30]) });
  expect(() => store.at({ known: 30 })).toThrow(ValidationError); // no change has a time
  await store.put([second]);
  expect([listIds(store, { sequence: 1 }), listIds(store, { known: 30 })]).toEqual([['r0'], ['r0', 'r1']]);
  const range = 'name a change from 1 to 2, or a time from the first change that has one';
  for (const moment of [{ sequence: 0 }, { sequence: 3 }, { sequence: 1.5 }, { known: 29 }, { known: Number.NaN }])
    expect(() => store.at(moment)).toThrow(
      `moment is not in the history of the memory: ${Object.keys(moment)[0] === 'known' ? 'time' : 'change'} ${Object.values(moment)[0]}; ${range}`,
    );
  await store.close();
});

test('changes of a journal from before have no time, and can be named by their numbers', async () => {
  const plain = await openStore(folder);
  await plain.put([first]);
  await plain.put([second]);
  await plain.close();
  const store = await openStore(folder, { history: true, clock: createClock([Number.NaN, 30]) });
  await expect(store.remove(['r0'])).rejects.toThrow('clock of the memory gives no time: NaN');
  await store.remove(['r0']);
  expect([listIds(store, { sequence: 1 }), listIds(store, { known: 30 })]).toEqual([['r0'], ['r1']]);
  expect(() => store.at({ known: 29 })).toThrow(ValidationError);
  await store.close();
});

test('the store of a moment refuses changes and does not follow later ones', async () => {
  const store = await openStore(null, { history: true });
  await store.put([first]);
  const then = store.at({ sequence: 1 });
  await store.remove(['r0']);
  expect([then.size, then.isReadOnly, then.dimension]).toEqual([1, true, 7]);
  await expect(then.remove(['r0'])).rejects.toThrow(
    /^memory store is read-only: as of change 1; change the present memory$/,
  );
  await store.close();
});

test('the dimension is that of the versions where no record is left, until they are forgotten', async () => {
  const store = await openStore(folder, { history: true });
  await store.put([first]);
  await store.remove(['r0']);
  await expect(store.put([createSampleRecord('r0', 3)])).rejects.toThrow(DimensionMismatchError);
  await store.snapshot();
  await store.close();
  await expect(openStore(folder, { dimension: 3 })).rejects.toThrow(DimensionMismatchError);
  const again = await openStore(folder);
  expect([again.dimension, again.size]).toEqual([7, 0]);
  await again.forget(['r0']);
  await again.put([createSampleRecord('r0', 3)]);
  expect(again.dimension).toBe(3);
  await again.close();
});

test('writes at once have the numbers of their calls', async () => {
  const store = await openStore(folder, { history: true, fsync: 'never' });
  const records = createSampleRecords(20);
  await Promise.all(records.flatMap((record) => [store.put([record]), store.observe(record.id, 1)]));
  for (const [i, { id }] of records.entries()) {
    expect(store.at({ sequence: 2 * i + 1 }).get(id)?.stats.count).toBe(0);
    expect(listIds(store, { sequence: 2 * i })).toEqual(records.slice(0, i).map((record) => record.id));
  }
  await store.close();
});

test('a damaged history is an error; a repair saves the records', async () => {
  const store = await fill(await openStore(folder, { history: true }));
  await store.snapshot();
  await store.close();
  const [snapshot = ''] = readdirSync(folder).filter((name) => name.startsWith('snapshot-'));
  expect(readdirSync(join(folder, snapshot)).filter((name) => name.startsWith('history'))).toHaveLength(3);
  writeFileSync(join(folder, snapshot, 'history-000000.json'), '[]');
  await expect(openStore(folder)).rejects.toThrow(ChecksumMismatchError);
  const saved = await repairStore(folder, join(root, 'repaired'));
  expect([saved.records, saved.lostRecords, saved.damagedFiles]).toEqual([1, 0, []]);
});

describe('forgetting', () => {
  const child: MemoryRecord = { ...third, parentId: 'r1', metadata: { supersededBy: 'r1' } };

  test.each([['journal'], ['snapshot']])(
    'takes every version and mention, also after a reopening from the %s',
    async (from) => {
      const store = await openStore(folder, { history: true });
      await store.put([first, second, child]);
      await store.put([{ ...child, context: 'later' }, replaced], { replace: true });
      await store.observe('r1', 1);
      await store.forget(['r1'], [['r0', 1]]);
      if (from === 'snapshot') await store.snapshot();
      await store.close();
      const again = await openStore(folder);
      const moments = [1, 2, 3, 4].map((sequence) => listIds(again, { sequence }));
      expect(moments).toEqual([['r2'], ['r0', 'r2'], ['r0', 'r2'], ['r0', 'r2']]);
      const versions = [1, 2].map((sequence) => again.at({ sequence }).get('r2'));
      const plain = { parentId: null, metadata: {} };
      expect(versions).toEqual([
        { ...child, ...plain },
        { ...child, ...plain, context: 'later' },
      ]);
      await again.close();
    },
  );

  test('of a record that is gone already takes its versions', async () => {
    const store = await openStore(null, { history: true });
    await store.put([first, second]);
    await store.remove(['r0']);
    expect(await store.forget(['r0'])).toBe(0);
    expect([store.sequence, store.pastVersions, listIds(store, { sequence: 1 })]).toEqual([3, [], ['r1']]);
    await store.close();
  });
});
