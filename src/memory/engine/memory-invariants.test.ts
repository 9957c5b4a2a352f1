import { describe, expect, test } from 'vitest';
import { DimensionMismatchError, DuplicateRecordError } from '../../core/errors/errors.ts';
import { INDEXES, openFilled, QUERY, RECORDS } from './memory.fixture.ts';
import { openMemory } from './open-memory.ts';

describe('the invariants', () => {
  test('INV-001: a record does not change, whoever holds its parts', async () => {
    const memory = await openMemory({ dimension: 8 });
    const written = {
      ...(RECORDS[0] as (typeof RECORDS)[number]),
      embedding: Float32Array.from(QUERY),
      metadata: { entities: ['Ann'] },
    };
    await memory.add(written);
    const before = structuredClone(memory.get('r0'));
    written.embedding.fill(0);
    written.metadata.entities.push('Bo');
    const held = memory.get('r0') as { embedding: Float32Array };
    held.embedding.fill(0);
    expect(() => Object.assign(held, { outcome: 7 })).toThrow(TypeError);
    expect(memory.get('r0')).toEqual(before);
    expect((await memory.query({ embedding: QUERY })).candidates[0]?.semanticScore).toBeCloseTo(1, 5);
    await memory.updateStats('r0', 3);
    expect({ ...memory.get('r0'), stats: null }).toEqual({ ...before, stats: null });
    await memory.close();
  });

  test('INV-004: indexes hold what the store holds, after any writes', async () => {
    const memory = await openFilled({ indexes: INDEXES });
    await memory.remove('r7');
    await memory.upsert([{ ...(RECORDS[8] as (typeof RECORDS)[number]), embedding: QUERY }]);
    await Promise.all([memory.remove('r9'), memory.upsert([RECORDS[7] as never]), memory.remove('r10')]);
    const held = Array.from(memory.records(), ({ id }) => id).sort();
    for (const name of ['exact', 'graph']) {
      const found = await memory.search(name, QUERY, 100);
      expect(found.map(({ id }) => id).sort()).toEqual(held);
      expect(found[0]?.id).toBe('r8');
    }
    await memory.close();
  });

  test('INV-001: what is read in any way is a copy, frozen but for its vector', async () => {
    const memory = await openFilled({}, 3);
    const before = structuredClone([...memory.records()]);
    for (const record of memory.records()) {
      record.embedding.fill(7);
      expect(() => Object.assign(record.metadata, { number: 9 })).toThrow(TypeError);
      expect(() => Object.assign(record.stats, { count: 9 })).toThrow(TypeError);
    }
    for (const { id } of await memory.search('exact', QUERY, 3)) memory.get(id)?.embedding.fill(7);
    expect(() => Object.assign(memory.getStats('r0') as object, { count: 9 })).toThrow(TypeError);
    expect([...memory.records()]).toEqual(before);
    await memory.close();
  });

  test('INV-005: every embedding has the dimension of the memory, at every door', async () => {
    const memory = await openFilled({ indexes: INDEXES }, 3);
    for (const length of [0, 7, 9]) {
      const wrong = { ...(RECORDS[4] as (typeof RECORDS)[number]), embedding: new Float32Array(length).fill(1) };
      for (const call of [
        () => memory.add(wrong),
        () => memory.addBatch([RECORDS[3] as (typeof RECORDS)[number], wrong]),
        () => memory.upsert([{ ...wrong, id: 'r0' }]),
        () => memory.query({ embedding: wrong.embedding }),
        () => memory.search('graph', wrong.embedding),
        () => memory.searchOnly(wrong.embedding),
      ])
        await expect(call()).rejects.toThrow(DimensionMismatchError);
    }
    expect([memory.size, memory.sequence]).toEqual([3, 1]);
    expect(memory.get('r0')?.embedding).toEqual(RECORDS[0]?.embedding);
    await memory.close();
  });

  test('INV-006: ids are unique, and a batch is added as a whole or not at all', async () => {
    const memory = await openFilled({}, 3);
    await expect(memory.addBatch([RECORDS[5] as never, RECORDS[1] as never])).rejects.toThrow(DuplicateRecordError);
    await expect(memory.addBatch([RECORDS[5] as never, RECORDS[5] as never])).rejects.toThrow(DuplicateRecordError);
    const both = await Promise.allSettled([memory.add(RECORDS[6] as never), memory.add(RECORDS[6] as never)]);
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(memory.size).toBe(4);
    await memory.close();
  });

  test('INV-006: of many that add, replace and remove one id at once, each is done in its turn', async () => {
    const memory = await openFilled({ indexes: INDEXES }, 0);
    const [record] = RECORDS as [(typeof RECORDS)[number]];
    const calls = Array.from({ length: 60 }, (_, i) =>
      [() => memory.add(record), () => memory.remove(record.id), () => memory.upsert([record])][i % 3]?.(),
    );
    const ended = await Promise.allSettled(calls);
    // Added, removed and put again: every later addition finds it.
    const expected = (i: number) => (i % 3 === 0 && i > 0 ? 'rejected' : 'fulfilled');
    expect(ended.map(({ status }) => status)).toEqual(ended.map((_, i) => expected(i)));
    expect([memory.size, memory.sequence]).toEqual([1, 41]);
    for (const name of ['exact', 'graph']) expect(await memory.search(name, QUERY, 9)).toHaveLength(1);
    await memory.close();
  });
});
