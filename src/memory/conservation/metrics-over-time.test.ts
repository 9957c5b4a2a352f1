import { expect, test } from 'vitest';
import { memoryRecordSchema } from '../../model/turns/turn.ts';
import { measureOverTime } from './metrics-over-time.ts';
import { measureRecords } from './salience-stream.ts';

const D = 2;
const HOUR = 3_600_000;
const make = (i: number, importance = 0.5) =>
  memoryRecordSchema.parse({
    ...{ id: `r${i}`, context: 'text', createdAt: i * HOUR, metadata: { importance } },
    embedding: Float32Array.of(1 + (i % 5), i % 3),
  });
const listStored = (records: readonly ReturnType<typeof make>[]) => ({
  records: () => records,
  get: (id: string) => records.find((record) => record.id === id) ?? null,
});

test.each([null, 3, 0.01])('each moment has the metrics of the records up to its time, half-life %s', (halfLife) => {
  const records = Array.from({ length: 23 }, (_, i) => make((i * 7) % 23));
  const moments = measureOverTime(listStored(records), D, halfLife, 5);
  expect(moments.map(({ time }) => time / HOUR)).toEqual([4, 9, 14, 19, 22]);
  for (const [i, { time, metrics, drift }] of moments.entries()) {
    const known = records.filter(({ createdAt }) => createdAt <= time);
    const expected = measureRecords(() => known, D, halfLife);
    expect(metrics?.count).toBe(known.length);
    for (const name of ['magnitude', 'energy', 'information'] as const)
      expect(metrics?.[name]).toBeCloseTo(expected?.[name] as number, 9);
    const before = moments[i - 1]?.metrics?.magnitude;
    if (before === undefined) expect(drift).toBeNull();
    else expect(drift).toBeCloseTo(Math.abs((expected?.magnitude as number) - before) / before, 9);
  }
});

test('few records, none, and records without salience', () => {
  expect(measureOverTime(listStored([]), D, null, 5)).toEqual([]);
  const moments = measureOverTime(listStored([make(0, 0), make(1, 0), make(2)]), D, null, 100);
  expect(moments.map(({ metrics, drift }) => [metrics?.count ?? null, drift])).toEqual([
    [null, null],
    [null, null],
    [3, null],
  ]);
});
