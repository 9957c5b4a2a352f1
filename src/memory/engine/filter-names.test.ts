import fc from 'fast-check';
import { expect, test } from 'vitest';
import { InvalidFilterError } from '../../core/errors/errors.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import type { VectorIndexInput } from '../../index/vectors/registry.ts';
import { RecordTable } from '../store/record-table.ts';
import { openMemory } from './open-memory.ts';

const record = (id: string, metadata: Record<string, number | string>) => ({
  ...{ id, context: id, createdAt: 0, outcome: 0, metadata, embedding: Float32Array.of(1, 0) },
});

async function refuseMisspelt(index: VectorIndexInput): Promise<void> {
  const memory = await openMemory({ folder: null, dimension: 2, indexes: { only: index } });
  const query = (filter: string) => memory.query({ embedding: Float32Array.of(1, 0), filter });
  expect((await query('cots < 50')).candidates).toEqual([]); // nothing is known of a memory without records
  await memory.addBatch([record('a', { cost: 10 }), record('b', { cost: 90 })]);
  const misspelt =
    'expected an attribute that a record has, got cots; did you mean cost? if a record may lack it, add: exists cots';
  for (const filter of ['cots < 50', 'not cots = 50', "channel = 'x' and (cost = 1 or cots = 50)"]) {
    await expect(query(filter)).rejects.toThrow(misspelt);
    await expect(memory.search('only', Float32Array.of(1, 0), 2, { filter })).rejects.toThrow(InvalidFilterError);
    await expect(memory.searchOnly(Float32Array.of(1, 0), 2, { filter })).rejects.toThrow(misspelt);
  }
  expect((await query('cost < 50')).candidates.map(({ recordId }) => recordId)).toEqual(['a']);
  // A turn's own fields, what the framework reads, and what the filter asks by exists
  for (const filter of ['channel = null', 'not sensitive = true', 'outcome = 0', 'status = null', 'not exists(cots)'])
    expect((await query(filter)).candidates).toHaveLength(2);
  expect((await query('exists cots and cots < 50')).candidates).toEqual([]);
  await memory.upsert([record('c', { cots: 7 })]);
  expect((await query('cots < 50')).candidates.map(({ recordId }) => recordId)).toEqual(['c']);
  await memory.remove('c');
  await expect(query('cots < 50')).rejects.toThrow(misspelt);
  await memory.close();
}

test('a filter by a misspelt attribute is an error, also where records change', () =>
  refuseMisspelt({ index: 'flat' }));

requirePackages('PGlite').test('the same of an index in Postgres', () => refuseMisspelt({ index: 'pgvector' }));

test('a table counts the records that have an attribute', () => {
  const change = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd'),
    names: fc.option(fc.uniqueArray(fc.constantFrom('x', 'y', 'constructor', 'toString'))),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const table = new RecordTable();
      for (const { id, names } of changes) {
        const metadata = Object.fromEntries((names ?? []).map((name) => [name, 1]));
        if (names === null) table.remove([id, 'unknown']);
        else table.put([{ ...record(id, metadata) } as never]);
      }
      const counted = new Map<string, number>();
      for (const { metadata } of table.list())
        for (const name of Object.keys(metadata)) counted.set(name, (counted.get(name) ?? 0) + 1);
      expect(Object.fromEntries([...table.attributes].sort())).toEqual(Object.fromEntries([...counted].sort()));
    }),
  );
});
