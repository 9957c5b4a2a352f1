import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { StorageError } from '../../core/errors/errors.ts';
import { openStore } from '../store/open-store.ts';
import { GrowthSnapshots } from './growth-snapshots.ts';
import { INDEXES, openFilled, QUERY, RECORDS } from './memory.fixture.ts';
import { openMemory } from './open-memory.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-growth-'));
afterAll(() => rmSync(root, { recursive: true }));

test('all snapshots together cost as much as the writes do, however many there are', async () => {
  const store = { grownBytes: 0, snapshotBytes: 0 };
  let [total, written, snapshots] = [0, 0, 0];
  const growth = new GrowthSnapshots(store, 100, async () => {
    [store.grownBytes, store.snapshotBytes] = [0, total];
    written += total;
    snapshots++;
  });
  for (total = 10; total <= 100_000; total += 10) {
    store.grownBytes += 10;
    growth.consider();
    await growth.end();
  }
  expect(snapshots).toBeGreaterThan(8);
  expect(snapshots).toBeLessThan(12);
  expect(written).toBeLessThan(2 * 100_000);
});

test('a snapshot that fails is tried again when the journal has doubled, and its error ends the memory', async () => {
  const store = { grownBytes: 0, snapshotBytes: 0 };
  const tried: number[] = [];
  const growth = new GrowthSnapshots(store, 100, async () => {
    tried.push(store.grownBytes);
    if (store.grownBytes < 400) throw new StorageError('write', 'the snapshot');
    store.grownBytes = 0;
  });
  for (let i = 0; i < 39; i++) {
    store.grownBytes += 10;
    growth.consider();
    await growth.end().catch(() => {});
  }
  await expect(growth.end()).rejects.toThrow(StorageError);
  store.grownBytes += 10;
  growth.consider();
  await growth.end();
  expect(tried).toEqual([100, 200, 400]);
});

test('a memory writes snapshots as it grows, and opens as it was', async () => {
  const folder = join(root, 'memory');
  const memory = await openFilled({ folder, indexes: INDEXES, snapshotBytes: 4000 }, 0);
  for (const record of RECORDS) await memory.add(record);
  for (const { id } of RECORDS) await memory.updateStats(id, 1);
  await memory.remove('r3');
  const before = await memory.query({ embedding: QUERY, k: 60 });
  const held = [...memory.records()];
  await memory.close();
  expect(readdirSync(folder).filter((name) => name.startsWith('snapshot-'))).toHaveLength(1);
  const store = await openStore(folder);
  expect(store.snapshotBytes).toBeGreaterThan(4000);
  expect(store.grownBytes).toBeLessThan(store.snapshotBytes);
  await store.close();
  const again = await openMemory({ folder, dimension: 8, indexes: INDEXES });
  expect([...again.records()]).toEqual(held);
  expect({ ...(await again.query({ embedding: QUERY, k: 60 })), latency: 0 }).toEqual({ ...before, latency: 0 });
  await again.close();
});
