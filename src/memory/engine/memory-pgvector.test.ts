import { cpSync, mkdtempSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect } from 'vitest';
import { findText, listTextForms } from '../../core/decoding/find-text.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { listSegments } from '../../core/journal/segments.ts';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { openVectorIndex } from '../../index/vectors/registry.ts';
import { openStore } from '../store/open-store.ts';
import { stageRemoval } from '../store/removal.ts';
import { findStrayAnswer } from './flat-scan.oracle.ts';
import { drawRecords } from './memory.fixture.ts';
import { openMemory } from './open-memory.ts';

// Runs Postgres in this process (@electric-sql/pglite), among the tests that have a process each.
const { test } = requirePackages('PGlite');
/** Files of a Postgres in this process with a text. */
const listFilesWith = async (database: string, text: string) =>
  (await findText(database, listTextForms(text))).found.map(({ path }) => path);

const root = mkdtempSync(join(tmpdir(), 'memory-pgvector-'));
afterAll(() => rmSync(root, { recursive: true }));

const RECORDS = drawRecords(30);
const QUERY = drawRecords(1, 7)[0]?.embedding as Float32Array;

test('an index in Postgres keeps its rows, is brought up to the store, and is its memory’s alone', async () => {
  const folder = join(root, 'store');
  const database = { index: 'pgvector', folder: join(root, 'database') } as const;
  const options = { folder, dimension: 8, timeoutMs: 30_000, indexes: { exact: { index: 'flat' }, database } } as const;
  const askBoth = async (memory: Awaited<ReturnType<typeof openMemory>>) => {
    const held = Array.from(memory.records(), ({ id }) => id).sort();
    for (const name of ['exact', 'database'])
      expect((await memory.search(name, QUERY, 100)).map(({ id }) => id).sort()).toEqual(held);
  };

  const first = await openMemory(options);
  await first.addBatch(RECORDS.slice(0, 20));
  await first.remove('r3');
  const filtered = { embedding: QUERY, k: 4, filter: "channel = 'odd' and number < 15" };
  const [exact, stored] = [
    await first.query({ ...filtered, indexNames: ['exact'] }),
    await first.query({ ...filtered, indexNames: ['database'] }),
  ];
  expect(stored.candidates.map(({ recordId }) => recordId)).toEqual(exact.candidates.map(({ recordId }) => recordId));
  expect(stored.prior).toEqual(exact.prior);
  await first.close();

  const store = await openStore(folder); // changes that no index saw, and that a snapshot covers
  await store.put(RECORDS.slice(20));
  await store.remove(['r5']);
  await store.snapshot();
  await store.close();
  const second = await openMemory(options);
  await askBoth(second);
  await second.close();

  const table = await openVectorIndex(database, 8);
  expect(table.keepsRows).toBe(true);
  expect(await table.count()).toBe(28);
  await table.remove(['r7']); // by hand
  await table.dispose();
  const third = await openMemory(options);
  await askBoth(third);
  await third.close();

  await expect(openMemory({ ...options, folder: join(root, 'other') })).rejects.toThrow(ValidationError);
}, 120_000);

test('an index in Postgres forgets a change that its memory has lost, and is not touched by what only reads', async () => {
  const folder = join(root, 'losing');
  const database = { index: 'pgvector', folder: join(root, 'losing-database') } as const;
  const options = { dimension: 8, timeoutMs: 30_000, indexes: { database } } as const;
  const first = await openMemory({ ...options, folder });
  await first.addBatch(RECORDS.slice(0, 5));
  await first.close();
  const second = await openMemory({ ...options, folder });
  await second.upsert([{ ...(RECORDS[0] as (typeof RECORDS)[number]), embedding: QUERY }]);
  const left = join(root, 'left');
  cpSync(folder, left, { recursive: true });
  rmSync(join(left, 'lock'));
  await second.close();
  const path = listSegments(left)[0]?.path as string;
  truncateSync(path, readFileSync(path).byteLength - 1);

  const reader = await openMemory({ ...options, folder: left, readOnly: true });
  expect(reader.warnings[0]).toMatch(/ has lost change 2: /);
  expect(await findStrayAnswer(reader, [QUERY])).toBeNull();
  await reader.close();
  const table = await openVectorIndex(database, 8);
  expect((await table.search(QUERY, 1))[0]?.[0]?.distance).toBeCloseTo(0, 5); // the lost vector
  await table.dispose();

  const third = await openMemory({ ...options, folder: left });
  expect(await findStrayAnswer(third, [QUERY])).toBeNull();
  await third.close();
}, 120_000);

test('no file of the Postgres in this process has a conversation that was forgotten, also after a kill', async () => {
  const canary = 'canary-4711';
  const folder = join(root, 'forgetting');
  const database = { index: 'pgvector', folder: join(root, 'forgetting-database') } as const;
  const options = { folder, dimension: 8, timeoutMs: 30_000, indexes: { database } } as const;
  const secret = (name: string) =>
    drawRecords(7, 41).map((record) => ({
      ...record,
      id: `${canary}-${name}-${record.id}`,
      conversationId: name,
      metadata: { ...record.metadata, topic: canary },
    }));
  const first = await openMemory(options);
  await first.addBatch([...RECORDS, ...secret('one'), ...secret('two')]);
  await first.search('database', QUERY, 3);
  await first.removeWhere({ conversationId: 'one' });
  await first.close();
  expect(await listFilesWith(database.folder, 'canary-4711-one')).toEqual([]);
  expect(await listFilesWith(database.folder, canary)).not.toEqual([]);

  const ids = new Set(secret('two').map(({ id }) => id));
  await stageRemoval(folder, { ids, versions: [] }, [], async () => {}); // what a process had decided that was killed
  const store = await openStore(folder); // finishes it without the database
  await store.close();
  expect(await listFilesWith(database.folder, canary)).not.toEqual([]);
  const second = await openMemory(options);
  expect((await second.search('database', QUERY, 100)).map(({ id }) => id).sort()).toEqual(
    RECORDS.map(({ id }) => id).sort(),
  );
  await second.close();
  expect(await listFilesWith(database.folder, canary)).toEqual([]);
  expect(await listFilesWith(folder, canary)).toEqual([]);
}, 120_000);
