import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  ChecksumMismatchError,
  UnavailableError,
  ValidationError,
  WalCorruptedError,
} from '../../core/errors/errors.ts';
import { noteProgress } from '../../core/terminal/progress.harness.ts';
import { openStore } from './open-store.ts';
import { createSampleRecord, createSampleRecords } from './records.fixture.ts';
import { repairStore } from './repair-store.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-repair-'));
afterAll(() => rmSync(root, { recursive: true }));
const sound = join(root, 'sound');
const folder = join(root, 'damaged');
const into = join(root, 'repaired');

const RECORDS = 11;
const snapshotRecords = createSampleRecords(RECORDS);
const store = await openStore(sound);
await store.put(snapshotRecords);
await store.snapshot();
for (let i = 0; i < 5; i++) await store.put([createSampleRecord(`late${i}`)]);
await store.observe('late1', 0.5);
await store.observe('r3', 0.5);
await store.put([createSampleRecord('last')]);
const all = [...store.records()];
await store.close();
const files = readdirSync(sound, { recursive: true, encoding: 'utf8' }).filter((name) => /\.\w+$/.test(name));

/** Copies the sound folder with one file changed, and makes room for a new store. */
function damage(name: string, change: (bytes: Buffer) => Buffer): void {
  rmSync(folder, { recursive: true, force: true });
  rmSync(into, { recursive: true, force: true });
  cpSync(sound, folder, { recursive: true });
  writeFileSync(join(folder, name), change(readFileSync(join(sound, name))));
}

function flip(at: number, change: number) {
  return (bytes: Buffer) => {
    bytes[at] = (bytes[at] as number) ^ change;
    return bytes;
  };
}

/** Opens the repaired store. Each of its records is one of the sound ones; statistics may be earlier ones. */
async function listRepaired() {
  const repaired = await openStore(into);
  const records = [...repaired.records()];
  await repaired.close();
  for (const { stats: _, ...record } of records) expect(all.find(({ id }) => id === record.id)).toMatchObject(record);
  return records;
}

test('a store that is not damaged is copied', async () => {
  damage(files[0] as string, (bytes) => bytes);
  const { stages, progress } = noteProgress();
  const report = await repairStore(folder, into, progress);
  expect(stages.map(([stage]) => stage)).toEqual(['parts of the snapshot', 'changes', 'records']);
  for (const [stage, total, done] of stages) expect(total > 0 && done, stage).toBe(total);
  expect(report).toEqual({
    records: all.length,
    lostOperations: [],
    lostRecords: 0,
    lostOutcomes: 0,
    damagedFiles: [],
  });
  expect(await listRepaired()).toEqual(all);
});

test('any changed byte is found when the store is opened, or is in the last entry; a repair loses at most one record', async () => {
  expect(files.map((name) => name.split('.').at(-1)).sort()).toEqual(['journal', 'json', 'jsonl', 'safetensors']);
  const sizes = files.map((name) => readFileSync(join(sound, name)).byteLength);
  const places = fc
    .nat(files.length - 1)
    .chain((file) => fc.tuple(fc.constant(file), fc.nat((sizes[file] as number) - 1)));
  await fc.assert(
    fc.asyncProperty(places, fc.integer({ min: 1, max: 255 }), async ([file, at], change) => {
      const name = files[file] as string;
      damage(name, flip(at, change));
      const found = await openStore(folder).then(
        async (opened) => {
          const ids = [...opened.records()].map(({ id }) => id);
          await opened.close();
          return ids;
        },
        (error: unknown) => error,
      );
      if (Array.isArray(found)) {
        expect(name).toContain('.journal');
        expect(found).toEqual(all.slice(0, -1).map(({ id }) => id));
      } else expect(found).toBeInstanceOf(name.endsWith('.journal') ? WalCorruptedError : ChecksumMismatchError);
      const report = await repairStore(folder, into);
      expect((await listRepaired()).length).toBe(report.records);
      expect(report.records).toBeGreaterThanOrEqual(all.length - 1);
    }),
    { numRuns: 37 },
  );
});

const headerFile = files.findIndex((name) => name.endsWith('.safetensors'));

test('of a damaged snapshot the records with their checksums are kept', async () => {
  const name = files[headerFile] as string;
  const { byteLength } = readFileSync(join(sound, name));
  damage(name, flip(byteLength - RECORDS * 8 - 1, 1)); // the last number of the last vector
  await expect(openStore(folder)).rejects.toThrow(
    /^damaged file .*safetensors.*; save the rest in a new folder with 'ragpp memory repair/,
  );
  expect(await repairStore(folder, into)).toMatchObject({ lostRecords: 1, damagedFiles: [join(folder, name)] });
  expect((await listRepaired()).map(({ id }) => id)).toEqual(all.map(({ id }) => id).filter((id) => id !== 'r10'));
});

test('lost operations and outcomes are counted', async () => {
  const name = files.find((found) => found.endsWith('.journal')) as string;
  const at = readFileSync(join(sound, name)).indexOf('late1');
  damage(name, flip(at, 1));
  await expect(openStore(folder)).rejects.toThrow(/the first lost entry is 3; save the rest/);
  const { lostOperations, ...report } = await repairStore(folder, into);
  expect(lostOperations).toMatchObject([{ from: 3, to: 3 }]);
  expect(report).toMatchObject({ records: all.length - 1, lostRecords: 0, lostOutcomes: 1 });
  await listRepaired();
});

test('nothing is overwritten, and a store in use is left alone', async () => {
  damage(files[0] as string, (bytes) => bytes);
  mkdirSync(into);
  writeFileSync(join(into, 'mine'), '');
  await expect(repairStore(folder, into)).rejects.toThrow(ValidationError);
  const used = await openStore(folder);
  await expect(repairStore(folder, join(root, 'new'))).rejects.toThrow(UnavailableError);
  await used.close();
});

test('changes that are missing at the end are counted as lost', async () => {
  const name = files.find((found) => found.endsWith('.journal')) as string;
  damage(name, () => Buffer.alloc(0));
  const { lostOperations, records } = await repairStore(folder, into);
  expect(lostOperations).toMatchObject([{ from: 2, to: 9 }]);
  expect(records).toBe(RECORDS);
});
