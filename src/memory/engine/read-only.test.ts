import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { findBuiltUrl } from '../../core/built-module.harness.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { drawRecords, INDEXES, openFilled, QUERY, RECORDS } from './memory.fixture.ts';
import type { Memory } from './memory.ts';
import { openMemory } from './open-memory.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-read-only-'));
afterAll(() => rmSync(root, { recursive: true }));

const OPTIONS = { dimension: 8, indexes: INDEXES } as const;
const openToRead = (folder: string) => openMemory({ ...OPTIONS, folder, readOnly: true });
const answer = async (memory: Memory) => ({ ...(await memory.query({ embedding: QUERY, k: 60 })), latency: 0 });

/** The files of a folder, with what changes when they are written. */
function listFiles(folder: string) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const { mtimeMs, size, ino } = statSync(join(folder, name));
    return [name, mtimeMs, size, ino];
  });
}

test('a memory that another process writes is read as it is, and nothing in its folder changes', async () => {
  const folder = join(root, 'held');
  const writer = await openFilled({ ...OPTIONS, folder }, 40);
  await writer.snapshot();
  await writer.addBatch(RECORDS.slice(40));
  await writer.updateStats('r4', 0.5);
  const [expected, files] = [await answer(writer), listFiles(folder)];
  const reader = await openToRead(folder);
  expect(reader.warnings).toEqual([]);
  expect(await answer(reader)).toEqual(expected);
  expect(await answer(reader)).toEqual(expected); // from the cache
  for (const name of ['exact', 'graph'])
    expect(await reader.search(name, QUERY, 60)).toEqual(await writer.search(name, QUERY, 60));
  const [late] = drawRecords(1, 3);
  for (const refused of [
    reader.add({ ...late, id: 'late' } as never),
    reader.upsert(RECORDS.slice(0, 1)),
    reader.remove('r1'),
    reader.updateStats('r1', 1),
    reader.snapshot(),
  ]) {
    await expect(refused).rejects.toThrow(ValidationError);
    await expect(refused).rejects.toThrow(/^memory store is read-only: .*; open it without readOnly$/);
  }
  expect(await answer(reader)).toEqual(expected);
  await reader.close();
  expect(listFiles(folder)).toEqual(files);
  await writer.remove('r3');
  expect((await answer(writer)).candidates).toHaveLength(59);
  await writer.close();
});

test('a memory that a killed process left is read with indexes that are built in memory, and not saved', async () => {
  const folder = join(root, 'killed');
  const writer = await openFilled({ ...OPTIONS, folder }, 30);
  cpSync(folder, `${folder}-left`, { recursive: true });
  const expected = await answer(writer);
  await writer.close();
  const files = listFiles(`${folder}-left`);
  const reader = await openToRead(`${folder}-left`);
  expect(await answer(reader)).toEqual(expected);
  await reader.close();
  expect(listFiles(`${folder}-left`)).toEqual(files);
});

test('is read while its writer writes, adds and drops snapshots', async () => {
  const folder = join(root, 'busy');
  const writer = await openFilled({ ...OPTIONS, folder, fsync: 'never' }, 40);
  let isOver = false;
  const work = async () => {
    for (let i = 0; i < 60; i++) {
      await writer.upsert([{ ...(RECORDS[i % 40] as (typeof RECORDS)[number]), context: `version ${i}` }]);
      if (i % 7 === 0) await writer.snapshot();
    }
    isOver = true;
  };
  const working = work();
  for (let last = 0; !isOver; ) {
    const reader = await openToRead(folder);
    expect(reader.size).toBe(40);
    expect(reader.sequence).toBeGreaterThanOrEqual(last);
    last = reader.sequence;
    expect(await reader.search('exact', QUERY, 60)).toHaveLength(40);
    await reader.close();
  }
  await working;
  await writer.close();
});

const asOther = `
  const { openMemory } = await import(${JSON.stringify(findBuiltUrl('memory/engine/open-memory'))});
  const [folder, options, query] = process.argv.slice(1);
  if (process.getuid() === 0) process.seteuid(65534);
  const memory = await openMemory({ ...JSON.parse(options), folder, readOnly: true });
  const { candidates } = await memory.query({ embedding: Float32Array.from(JSON.parse(query)), k: 3 });
  await memory.close();
  console.log(candidates.map(({ recordId }) => recordId).join());
`;

test('a folder that may not be written is queried', async () => {
  const folder = join(root, 'fixed');
  const writer = await openFilled({ ...OPTIONS, folder }, 40);
  const expected = (await writer.query({ embedding: QUERY, k: 3 })).candidates.map(({ recordId }) => recordId);
  await writer.close();
  chmodSync(root, 0o755);
  chmodSync(folder, 0o555);
  try {
    const argv = ['--input-type=module', '-e', asOther, folder];
    const { stdout, stderr } = spawnSync(
      process.execPath,
      [...argv, JSON.stringify(OPTIONS), JSON.stringify([...QUERY])],
      { encoding: 'utf8' },
    );
    expect([stdout, stderr]).toEqual([`${expected.join()}\n`, '']);
  } finally {
    chmodSync(folder, 0o755);
  }
});

test('a folder without a memory is not made', async () => {
  const folder = join(root, 'missing');
  await expect(openToRead(folder)).rejects.toThrow(/ENOENT/);
  await expect(openToRead(root)).rejects.toThrow(/^folder has no memory store: .*; name another folder, or open it/);
});
