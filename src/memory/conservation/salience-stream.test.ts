import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type MemoryRecord, memoryRecordSchema } from '../../model/turns/turn.ts';
import { type ConservationMetrics, computeConservationMetrics } from '../../ops/conservation/conservation-metrics.ts';
import { computeSalience } from './salience.ts';
import { measureRecords, SalienceStream } from './salience-stream.ts';

const D = 3;
const HOUR = 3_600_000;

/** The definition over all records; ages count from the newest record with salience. */
function measureByDefinition(records: readonly MemoryRecord[], halfLifeHours: number | null) {
  const salient = records.filter(({ metadata }) => metadata.importance !== 0);
  if (records.length > 0 && salient.length === 0) return null;
  const origin = Math.max(0, ...salient.map(({ createdAt }) => createdAt));
  const embeddings = Float64Array.from(records.flatMap(({ embedding }) => [...embedding]));
  return computeConservationMetrics(
    embeddings,
    records.map((record) => computeSalience(record, halfLifeHours, origin)),
  );
}

function expectSame(got: ConservationMetrics | null, expected: ConservationMetrics | null): void {
  expect(got === null).toBe(expected === null);
  for (const name of ['count', 'magnitude', 'energy', 'information'] as const)
    expect(Math.abs((got?.[name] ?? 0) - (expected?.[name] ?? 0)), name).toBeLessThan(1e-9);
}

const record = fc
  .record({
    id: fc.nat(12),
    vector: fc.array(fc.integer({ min: -4, max: 4 }), { minLength: D, maxLength: D }),
    importance: fc.constantFrom(0, 0.001, 0.5, 1),
    useCount: fc.constantFrom(0, 7),
    hours: fc.oneof(fc.nat(50), fc.constantFrom(0, 2000, 1_000_000, 2_000_000)),
  })
  .map(({ id, vector, hours, ...metadata }) =>
    memoryRecordSchema.parse({
      ...{ id: `r${id}`, context: 'text', createdAt: hours * HOUR, metadata, embedding: Float32Array.from(vector) },
    }),
  );
const change = fc.record({
  put: fc.uniqueArray(record, { selector: ({ id }) => id, maxLength: 4 }),
  removed: fc.uniqueArray(fc.nat(12), { maxLength: 4 }),
  isMade: fc.boolean(),
});

test.each([null, 1, 24])('any changes give the metrics of a fresh computation, half-life %s', (halfLifeHours) => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const store = new Map<string, MemoryRecord>();
      const list = () => [...store.values()];
      const read = { records: list, get: (id: string) => store.get(id) ?? null };
      const stream = new SalienceStream(read, D, halfLifeHours);
      for (const { put, removed, isMade } of changes) {
        const ids = removed.map((id) => `r${id}`).filter((id) => put.every((added) => added.id !== id));
        const after = new Map(store);
        for (const id of ids) after.delete(id);
        for (const added of put) after.set(added.id, added);
        const expected = measureByDefinition([...after.values()], halfLifeHours);
        expectSame(stream.measureAfter({ put, removed: ids }), expected);
        expectSame(stream.metrics, measureByDefinition(list(), halfLifeHours));
        expectSame(
          measureRecords(() => after.values(), D, halfLifeHours),
          expected,
        );
        if (!isMade) continue;
        store.clear();
        for (const [id, kept] of after) store.set(id, kept);
        stream.follow([...ids, ...put.map(({ id }) => id)]);
        expectSame(stream.metrics, expected);
      }
    }),
    { numRuns: 60 },
  );
});

test('a stream of records that each fade below rounding is what is left after the newest go', () => {
  const make = (i: number) =>
    memoryRecordSchema.parse({
      ...{ id: `r${i}`, context: 'text', createdAt: i * 100 * HOUR, embedding: Float32Array.of(i + 1, 1, 0) },
    });
  const store = new Map(Array.from({ length: 30 }, (_, i) => [`r${i}`, make(i)]));
  const stream = new SalienceStream(
    { records: () => store.values(), get: (id: string) => store.get(id) ?? null },
    D,
    1,
  );
  for (let i = 29; i > 0; i--) {
    store.delete(`r${i}`);
    stream.follow([`r${i}`]);
    expect(stream.metrics?.magnitude).toBeCloseTo(Math.hypot(i, 1), 9);
  }
});
