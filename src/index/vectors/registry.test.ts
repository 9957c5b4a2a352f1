import { mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ChecksumMismatchError, ConfigurationError, DimensionMismatchError } from '../../core/errors/errors.ts';
import { openVectorIndex, type VectorIndexInput } from './registry.ts';

const rows = ['a', 'b', 'c'].map((id, i) => ({ id, vector: Float32Array.of(Math.cos(i), Math.sin(i)) }));

test.each([
  [{ index: 'faiss' }, /index: expected "flat" or "hnsw" or "usearch" or "pgvector", got "faiss"/],
  [{ index: 'hnsw', ef: 3 }, /got unknown key "ef"/],
  [{ index: 'hnsw', preset: 'large' }, /preset: expected .*, got "large"/],
  [{ index: 'pgvector', table: 'a"; drop table b' }, /table/],
])('refuses %j', async (options, reason) => {
  const made = openVectorIndex(options as unknown as VectorIndexInput, 2);
  await expect(made).rejects.toThrow(ConfigurationError);
  await expect(made).rejects.toThrow(reason);
});

test('one index opens what another saved; another dimension or distance and damaged files are refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ragpp-open-'));
  try {
    const flat = await openVectorIndex({ index: 'flat', distance: 'l2' }, 2);
    await flat.upsert(rows);
    await flat.save(folder);
    const hnsw = await openVectorIndex({ index: 'hnsw', distance: 'l2' }, 2, folder);
    const query = Float32Array.of(1, 0.2);
    expect(await hnsw.search(query, 3)).toEqual(await flat.search(query, 3));
    await expect(openVectorIndex({ index: 'flat', distance: 'l2' }, 3, folder)).rejects.toThrow(DimensionMismatchError);
    await expect(openVectorIndex({ index: 'flat' }, 2, folder)).rejects.toThrow(
      /distance: expected "l2", got "cosine"/,
    );
    const name = readdirSync(folder).find((file) => file.startsWith('vectors-'))!;
    truncateSync(join(folder, name), 40);
    await expect(openVectorIndex({ index: 'flat', distance: 'l2' }, 2, folder)).rejects.toThrow(ChecksumMismatchError);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
