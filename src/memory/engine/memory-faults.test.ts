import { afterEach, describe, expect, test } from 'vitest';
import {
  ConfigurationError,
  IndexCapacityError,
  InvalidFilterError,
  QueryTimeoutError,
  RagPlusPlusError,
  StorageError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { openVectorIndex } from '../../index/vectors/registry.ts';
import type { VectorIndex } from '../../model/vector-index.ts';
import { ConservationGuard } from '../conservation/conservation-guard.ts';
import type { MemoryStore } from '../store/memory-store.ts';
import { openStore } from '../store/open-store.ts';
import { FollowingIndex } from './following-index.ts';
import { drawRecords } from './memory.fixture.ts';
import { Memory } from './memory.ts';
import { memoryOptions } from './memory-options.ts';
import { openMemory } from './open-memory.ts';

const RECORDS = drawRecords(20);
const [FIRST, SECOND, THIRD] = RECORDS as [(typeof RECORDS)[0], (typeof RECORDS)[0], (typeof RECORDS)[0]];
const QUERY = drawRecords(1, 7)[0]?.embedding as Float32Array;

let store: MemoryStore;
afterEach(() => store?.close());

/** A memory over an exact index, some operations of which are replaced. */
async function openOver(replace: (index: VectorIndex) => Partial<VectorIndex>, timeoutMs = 1000) {
  store = await openStore(null, { dimension: 8 });
  const index = await openVectorIndex({ index: 'flat' }, 8);
  const replaced = replace(index);
  const over = new Proxy(index, {
    get: (_, key) => {
      const value = Reflect.get(key in replaced ? replaced : index, key) as unknown;
      return typeof value === 'function' ? value.bind(index) : value;
    },
  });
  const options = memoryOptions.parse({ dimension: 8, timeoutMs, indexes: { main: { index: 'flat' } } });
  const guard = new ConservationGuard(store, 8, options.conservation);
  return { memory: new Memory(options, store, new Map([['main', new FollowingIndex(over, store)]]), { guard }), index };
}

const listFound = async (memory: Memory) => (await memory.search('main', QUERY, 100)).map(({ id }) => id).sort();

test('the time to build an index is not that of a query, and a query from the cache builds nothing', async () => {
  let built = 0;
  const { memory } = await openOver(
    (index) => ({
      build: async () => {
        built++;
        await new Promise((resolve) => setTimeout(resolve, 1600));
      },
      search: (...query) => (built === 0 ? new Promise(() => {}) : index.search(...query)),
    }),
    1500,
  );
  await memory.addBatch(RECORDS.slice(0, 3));
  expect((await memory.query({ embedding: QUERY })).candidates).toHaveLength(3);
  await memory.query({ embedding: QUERY });
  expect(built).toBe(1);
  expect(await memory.searchOnly(QUERY)).toHaveLength(3);
  expect(built).toBe(2);
});

describe('an index that fails', () => {
  test('INV-004: the write is stored and acknowledged; searches fail until the index has it', async () => {
    let failures = 3;
    const { memory } = await openOver((index) => ({
      upsert: async (rows) => {
        await index.upsert(rows.slice(0, 1)); // a part of the write
        if (failures-- > 0) throw new StorageError('write', 'the index');
        await index.upsert(rows);
      },
    }));
    expect(await memory.addBatch(RECORDS.slice(0, 3))).toEqual(['r0', 'r1', 'r2']);
    expect(memory.size).toBe(3);
    await expect(memory.query({ embedding: QUERY })).rejects.toThrow(StorageError);
    await expect(memory.searchOnly(QUERY)).rejects.toThrow(StorageError);
    expect(await listFound(memory)).toEqual(['r0', 'r1', 'r2']);
    expect((await memory.query({ embedding: QUERY })).candidates).toHaveLength(3);
  });

  test('INV-004: a removal that fails is repeated', async () => {
    let failures = 1;
    const { memory } = await openOver((index) => ({
      remove: async (ids) => {
        if (failures-- > 0) throw new StorageError('write', 'the index');
        return index.remove(ids);
      },
    }));
    await memory.addBatch(RECORDS.slice(0, 3));
    expect(await memory.remove('r1')).toBe(true);
    expect(await listFound(memory)).toEqual(['r0', 'r2']);
  });

  test('does not keep others, nor the store, from being closed', async () => {
    const closed: string[] = [];
    const { memory } = await openOver((index) => ({
      dispose: async () => {
        closed.push('main');
        await index.dispose();
        throw new StorageError('close', 'the index');
      },
    }));
    await expect(memory.close()).rejects.toThrow(StorageError);
    await expect(memory.close()).rejects.toThrow(StorageError);
    expect(closed).toEqual(['main']);
    await expect(store.put([FIRST])).rejects.toThrow(/memory store is closed/);
  });

  test('is not waited for beyond the time of a query', async () => {
    const { memory } = await openOver(() => ({ search: () => new Promise<never>(() => {}) }), 20);
    await memory.add(FIRST);
    await expect(memory.query({ embedding: QUERY })).rejects.toThrow(QueryTimeoutError);
  });
});

describe('writes while a query runs', () => {
  test('are seen by every query that begins after readers see them, also before the write returns', async () => {
    const { memory } = await openOver(() => ({}));
    for (const [i, record] of RECORDS.entries()) {
      const added = memory.add(record);
      expect(memory.size).toBe(i + 1); // without a folder a write is done at once
      expect((await memory.query({ embedding: QUERY, k: 100 })).candidates).toHaveLength(i + 1);
      await added;
    }
    const removed = memory.remove('r3');
    expect((await memory.query({ embedding: QUERY, k: 100 })).candidates).toHaveLength(RECORDS.length - 1);
    await removed;
  });

  test('a record that is removed or replaced meanwhile does not cost a place', async () => {
    let writes: (() => Promise<unknown>)[] = [];
    const { memory } = await openOver((index) => ({
      search: async (...asked) => {
        const found = await index.search(...asked);
        for (const write of writes.splice(0)) await write();
        return found;
      },
    }));
    await memory.addBatch(RECORDS);
    const [best, second] = (await memory.query({ embedding: QUERY, k: 5 })).candidates;
    const moved = RECORDS.find(({ id }) => id === second?.recordId) as typeof FIRST;
    writes = [
      () => memory.remove(best?.recordId as string),
      () => memory.upsert([{ ...moved, embedding: QUERY.map((value) => -value) }]),
    ];
    const { candidates } = await memory.query({ embedding: QUERY, k: 5, filter: 'number >= 0' });
    expect(candidates).toHaveLength(5);
    expect(candidates.map(({ recordId }) => recordId)).not.toContain(best?.recordId);
    expect(candidates.map(({ recordId }) => recordId)).not.toContain(moved.id);
  });

  test('many at once leave the index as the store', async () => {
    const memory = await openMemory({ dimension: 8, indexes: { main: { index: 'hnsw' } } });
    const work = RECORDS.flatMap((record, i) => [
      memory.add(record),
      memory.query({ embedding: record.embedding, k: 3 }),
      ...(i % 3 === 0 ? [memory.remove(record.id)] : []),
    ]);
    await Promise.all(work);
    expect(await listFound(memory)).toEqual(Array.from(memory.records(), ({ id }) => id).sort());
    expect(memory.size).toBe(13);
    await memory.close();
  });
});

test('each record goes to the index once, however many are there', async () => {
  let rows = 0;
  let removals = 0;
  const { memory } = await openOver((index) => ({
    upsert: (given) => {
      rows += given.length;
      return index.upsert(given);
    },
    remove: (ids) => {
      removals += ids.length;
      return index.remove(ids);
    },
  }));
  const many = drawRecords(1024);
  for (let start = 0; start < many.length; start += 64) {
    await memory.addBatch(many.slice(start, start + 64));
    expect(rows).toBe(start + 64);
  }
  await memory.query({ embedding: QUERY });
  await memory.upsert(many.slice(0, 3));
  await memory.remove('r9');
  expect([rows, removals]).toEqual([1027, 1]);
});

describe('the door', () => {
  test.each([
    ['a channel', { channel: 'a\0b' }],
    ['an attribute', { metadata: { note: '\0' } }],
    ['an id', { id: 'x'.repeat(3000) }],
    ['an embedding', { embedding: new Float32Array(8).fill(1e18) }],
  ])('refuses %s that no index takes, before it is stored', async (_, part) => {
    const memory = await openMemory({ dimension: 8 });
    await expect(memory.addBatch([FIRST, { ...SECOND, ...part }])).rejects.toThrow(RagPlusPlusError);
    expect(memory.size).toBe(0);
    await memory.add(THIRD);
    expect(await memory.searchOnly(QUERY)).toHaveLength(1);
    await memory.close();
  });

  test('refuses records for which an index has no room, before they are stored', async () => {
    const indexes = { main: { index: 'hnsw', capacity: 3 }, other: { index: 'flat' } } as const;
    const memory = await openMemory({ dimension: 8, indexes });
    await memory.addBatch(RECORDS.slice(0, 2));
    await expect(memory.addBatch(RECORDS.slice(2, 4))).rejects.toThrow(
      'main index holds at most 3 vectors, got 4; remove records, raise its capacity, or use pgvector',
    );
    expect(memory.size).toBe(2);
    await memory.upsert(RECORDS.slice(0, 3)); // two of them are there
    await expect(memory.add(RECORDS[3] as typeof FIRST)).rejects.toThrow(IndexCapacityError);
    await memory.remove('r0');
    await memory.add(RECORDS[3] as typeof FIRST);
    expect(await listFound(memory)).toEqual(['r1', 'r2', 'r3']);
    await memory.close();
  });

  test('a variable that is not a number is refused, also after one that is the text NaN', async () => {
    const memory = await openMemory({ dimension: 8 });
    await memory.add(FIRST);
    const ask = (number: unknown) =>
      memory.query({ embedding: QUERY, filter: 'number = $query.number', variables: { number: number as string } });
    expect((await ask('NaN')).candidates).toEqual([]);
    await expect(ask(Number.NaN)).rejects.toThrow(InvalidFilterError);
    expect((await ask(-0)).candidates).toEqual((await ask(0)).candidates);
    await memory.close();
  });

  test('a time that no timer can wait is refused', async () => {
    await expect(openMemory({ dimension: 8, timeoutMs: 1e10 })).rejects.toThrow(ConfigurationError);
  });

  test('k is a whole number from 1, with one index and with several', async () => {
    const memory = await openMemory({ dimension: 8, indexes: { a: { index: 'flat' }, b: { index: 'flat' } } });
    await memory.addBatch(RECORDS);
    for (const k of [0, -1, 1.5, Number.NaN]) {
      await expect(memory.searchOnly(QUERY, k)).rejects.toThrow(ValidationError);
      await expect(memory.search('a', QUERY, k)).rejects.toThrow(ValidationError);
    }
    expect(await memory.searchOnly(QUERY, 7)).toHaveLength(7);
    await memory.close();
  });
});

describe('the cache', () => {
  test('keeps its answers from those who have them, and from those who asked', async () => {
    const memory = await openMemory({ dimension: 8 });
    await memory.addBatch(RECORDS);
    const asked = QUERY.slice();
    const pending = memory.query({ embedding: asked });
    asked.fill(-1);
    const first = await pending;
    expect(() => (first.candidates as unknown[]).reverse()).toThrow(TypeError);
    expect(() => Object.assign(first.prior, { mean: 7 })).toThrow(TypeError);
    const again = await memory.query({ embedding: QUERY });
    expect(again.candidates).toBe(first.candidates); // kept
    await memory.upsert([FIRST]);
    expect((await memory.query({ embedding: QUERY })).candidates).toEqual(first.candidates);
    await memory.close();
  });
});

test('a closed memory says so, and closing twice is closing once', async () => {
  const memory = await openMemory({ dimension: 8 });
  await memory.add(FIRST);
  await memory.query({ embedding: QUERY });
  await Promise.all([memory.close(), memory.close()]);
  for (const call of [
    () => memory.query({ embedding: QUERY }),
    () => memory.searchOnly(QUERY),
    () => memory.add(SECOND),
    () => memory.remove('r0'),
    () => memory.updateStats('r0', 1),
  ])
    await expect(call()).rejects.toThrow('memory is closed; open it again');
});
