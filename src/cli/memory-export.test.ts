import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { openParquet } from '../core/decoding/decoder.ts';
import { ignoreProgress } from '../core/terminal/progress.ts';
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
  await exportRecords(path, records, null, (stage, total) => {
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

test.each(['.jsonl', '.parquet', '.safetensors', '.npy'])(
  '%s has the salience of each record, which an import leaves out',
  async (ending) => {
    const aging = createSampleRecords(5, 3);
    const [path] = await exportRecords(join(root, `salient${ending}`), aging, 1 / 3_600_000, ignoreProgress); // a millisecond
    const expected = aging.map((_, i) => (0.1 + 0.2) * 0.5 ** (4 - i));
    if (ending === '.parquet') {
      const file = await openParquet(path as string);
      for await (const rows of file.readBatches()) expect(rows.map(({ salience }) => salience)).toEqual(expected);
      await file.close();
    } else {
      const text = readFileSync(ending === '.npy' ? join(root, 'salient.jsonl') : (path as string), 'latin1');
      const found = Array.from(text.matchAll(/"salience":([\d.e-]+)[,}]/g), ([, value]) => Number(value));
      expect(found).toEqual(expected);
    }
    if (ending === '.npy') return;
    const { located } = await readFiles([path as string], new RowFaults());
    expect(located.map(({ record }) => record)).toEqual(aging);
  },
);

test.each(['.jsonl', '.parquet', '.safetensors', '.npy'])('%s lets events in while it is written', async (ending) => {
  const many = createSampleRecords(ending === '.parquet' ? 7 : 23, ending === '.parquet' ? 2 ** 18 : 5);
  await expectEventsLetIn((progress) => exportRecords(join(root, `events${ending}`), many, null, progress));
});
