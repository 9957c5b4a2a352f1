import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { expectEventsLetIn } from '../core/terminal/slow-progress.harness.ts';
import { RowFaults } from '../data/jsonl/jsonl-rows.ts';
import { createSampleRecords } from '../memory/store/records.fixture.ts';
import { readFiles } from './actions/memory/read-files.ts';
import { exportRecords } from './actions/memory-export.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-export-'));
afterAll(() => rmSync(root, { recursive: true }));

/** Vectors so long that a group of rows of a Parquet file holds two records. */
const records = createSampleRecords(7, 2 ** 18);

test('Parquet is written group by group, with progress, and reads back as it was', async () => {
  const updates: number[] = [];
  const path = join(root, 'records.parquet');
  await exportRecords(path, records, (stage, total) => {
    expect([stage, total]).toEqual(['records', 7]);
    return { update: (done) => updates.push(done), finish: () => {} };
  });
  expect(updates).toEqual([2, 4, 6, 7]);
  const { located } = await readFiles([path], new RowFaults());
  expect(located.map(({ record }) => record.id)).toEqual(records.map(({ id }) => id));
  for (const [i, { record }] of located.entries())
    expect(
      Buffer.from((record.embedding as Float32Array).buffer).equals(Buffer.from(records[i]!.embedding.buffer)),
    ).toBe(true);
});

test.each(['.jsonl', '.parquet', '.safetensors', '.npy'])('%s lets events in while it is written', async (ending) => {
  const many = createSampleRecords(ending === '.parquet' ? 7 : 23, ending === '.parquet' ? 2 ** 18 : 5);
  await expectEventsLetIn((progress) => exportRecords(join(root, `events${ending}`), many, progress));
});
