import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ConfigurationError, IndexCapacityError } from '../../core/errors/errors.ts';
import type { VectorIndex } from '../../model/vector-index.ts';
import { openVectorIndex } from './registry.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-capacity-'));
afterAll(() => rmSync(root, { recursive: true }));

const rows = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => ({ id: `r${from + i}`, vector: Float32Array.of(1, from + i) }));

async function listIds(index: VectorIndex): Promise<string[]> {
  const [found] = await index.search(Float32Array.of(1, 1), 100);
  return (found ?? []).map(({ id }) => id).sort();
}

describe.each(['flat', 'hnsw'] as const)('%s with a capacity', (name) => {
  test('takes no row of a call beyond it, and rows again where others leave', async () => {
    const index = await openVectorIndex({ index: name, capacity: 3 }, 2);
    await index.upsert(rows(0, 2));
    await expect(index.upsert(rows(2, 4))).rejects.toThrow(
      new IndexCapacityError(name, 3, 4, 'remove rows, raise capacity, or use pgvector'),
    );
    expect(await listIds(index)).toEqual(['r0', 'r1']);
    await index.upsert([...rows(0, 3), ...rows(0, 3)]); // replaces two, adds one
    await index.remove(['r1']);
    await index.upsert(rows(7, 8));
    expect(await listIds(index)).toEqual(['r0', 'r2', 'r7']);
    await index.dispose();
  });

  test('opens no saved index that is larger', async () => {
    const folder = join(root, name);
    const saved = await openVectorIndex({ index: name }, 2);
    await saved.upsert(rows(0, 4));
    await saved.save(folder);
    await saved.dispose();
    await expect(openVectorIndex({ index: name, capacity: 3 }, 2, folder)).rejects.toThrow(IndexCapacityError);
    const index = await openVectorIndex({ index: name, capacity: 4 }, 2, folder);
    expect(await listIds(index)).toHaveLength(4);
    await index.dispose();
  });

  test('is a whole number that a process can hold', async () => {
    for (const capacity of [0, 1.5, 2 ** 24 + 1])
      await expect(openVectorIndex({ index: name, capacity }, 2)).rejects.toThrow(ConfigurationError);
  });
});
