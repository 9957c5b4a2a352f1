import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';
import { StorageError } from '../../core/errors/errors.ts';
import { mountSmallDisk } from '../../core/files/small-disk.harness.ts';
import type { MemoryStore } from './memory-store.ts';
import { openStore } from './open-store.ts';
import { createSampleRecord, createSampleRecords } from './records.fixture.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-store-faults-'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'store');
beforeEach(() => rmSync(folder, { recursive: true, force: true }));
const list = (store: MemoryStore) => [...store.records()];

const mounted = join(root, 'small');
const canMount = mountSmallDisk(mounted, '128k');

test.skipIf(!canMount)('a snapshot that the disk has no room for is an error, and the store goes on', async () => {
  const full = join(mounted, 'store');
  const store = await openStore(full);
  await store.put(createSampleRecords(31));
  writeFileSync(join(mounted, 'ballast'), Buffer.alloc(90_000));
  await expect(store.snapshot()).rejects.toThrow(StorageError);
  await expect(
    store.put(
      [createSampleRecord('large', 7), createSampleRecord('wide', 7)].map((record) => ({
        ...record,
        context: 'x'.repeat(40_000),
      })),
    ),
  ).rejects.toThrow(/ENOSPC/);
  expect(readdirSync(full).filter((name) => name.startsWith('snapshot-'))).toEqual([]);
  rmSync(join(mounted, 'ballast'));
  await store.put([createSampleRecord('small')]);
  await store.snapshot();
  const before = list(store);
  await store.close();
  const again = await openStore(full);
  expect(list(again)).toEqual(before);
  expect([again.size, again.sequence]).toEqual([32, 2]);
  await again.close();
});

test('a folder that vanishes is an error of changes and of snapshots, and can be opened again', async () => {
  const store = await openStore(folder);
  await store.put([createSampleRecord('a')]);
  rmSync(folder, { recursive: true });
  await expect(store.snapshot()).rejects.toThrow(StorageError);
  await expect(store.put([createSampleRecord('b')])).rejects.toThrow(StorageError);
  expect(existsSync(folder)).toBe(false);
  await expect(store.observe('a', 1)).rejects.toThrow(StorageError);
  expect(list(store)).toEqual([createSampleRecord('a')]);
  await store.close();
  const again = await openStore(folder);
  expect(again.size).toBe(0);
  await again.close();
});

/** Opens the store as a user who may not write in its folder: root may, so it becomes another user. */
const openAsOther = `
  const { openStore } = await import(${JSON.stringify(findBuiltUrl('memory/store/open-store'))});
  if (process.getuid() === 0) process.seteuid(65534);
  try {
    await openStore(process.argv[1]);
  } catch (error) {
    console.log(error.name + ': ' + error.message);
  }
`;

test('a folder that may not be written is an error, and opens once it may', async () => {
  const store = await openStore(folder);
  await store.put([createSampleRecord('a')]);
  await store.close();
  chmodSync(root, 0o755);
  chmodSync(folder, 0o555);
  try {
    const argv = ['--input-type=module', '-e', openAsOther, folder];
    const { stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
    expect(`${stdout}${stderr}`).toMatch(/^StorageError: cannot write \(EACCES: permission denied/);
  } finally {
    chmodSync(folder, 0o755);
  }
  const again = await openStore(folder);
  expect(again.size).toBe(1);
  await again.close();
});
