import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConservationViolationError, StorageError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { memoryRecordSchema } from '../../model/turns/turn.ts';
import type { ConservationMetrics } from '../../ops/conservation/conservation-metrics.ts';
import { openCurator } from '../curation/curator.ts';
import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import { openConsolidator } from '../patterns/consolidator.ts';
import { reinforce } from '../patterns/reinforce.ts';
import { ConservationGuard, type ConservationViolation } from './conservation-guard.ts';
import type { ConservationOptions } from './conservation-options.ts';
import { measureRecords } from './salience-stream.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-conservation-'));
beforeAll(() => useBackend('wasm'));
afterAll(() => rmSync(root, { recursive: true }));
let folders = 0;
const nameFolder = () => join(root, `memory-${++folders}`);

const D = 3;
const make = (id: string, length: number, importance = 0.5) => {
  return { id, embedding: Float32Array.of(length, 0, 0), context: id, createdAt: 1000, metadata: { importance } };
};
const open = (conservation: Partial<ConservationOptions>, folder: string | null = null) =>
  openMemory({ folder, dimension: D, fsync: 'never', conservation });
const listIds = (memory: Memory) => Array.from(memory.records(), ({ id }) => id).sort();

function expectSame(got: ConservationMetrics | null, expected: ConservationMetrics | null): void {
  expect(got === null).toBe(expected === null);
  for (const name of ['count', 'magnitude', 'energy', 'information'] as const)
    expect(Math.abs((got?.[name] ?? 0) - (expected?.[name] ?? 0)), name).toBeLessThan(1e-9);
}

/** Opens a memory, and lists its violations. */
async function openListening(
  conservation: Partial<ConservationOptions>,
): Promise<{ readonly memory: Memory; readonly seen: ConservationViolation[] }> {
  const memory = await open(conservation);
  const seen: ConservationViolation[] = [];
  memory.conservation.watch((violation) => seen.push(violation));
  return { memory, seen };
}

test('without the option nothing is checked, and the metrics can be measured', async () => {
  const { memory, seen } = await openListening({});
  await memory.addBatch([make('a', 1), make('b', 9)]);
  await memory.remove('b');
  expect([seen, memory.conservation.counts.checked]).toEqual([[], 0]);
  expect(memory.conservation.measure()).toMatchObject({ count: 1, magnitude: 1, energy: 0.5, information: 0 });
  await memory.close();
});

test('a change that breaks a law is made and reported with its number and the metrics before and after', async () => {
  const { memory, seen } = await openListening({ mode: 'warn' });
  await memory.addBatch([make('a', 1), make('b', 1)]);
  await memory.add(make('c', 7));
  await memory.updateStats('c', 1);
  await reinforce(memory, ['a', 'b']);
  expect(await memory.remove('c')).toBe(true);
  expect(seen.map(({ sequence, ids, law }) => [sequence, ids, law])).toEqual([
    [2, ['c'], 'magnitude'],
    [4, ['a', 'b'], 'magnitude'],
    [5, ['c'], 'magnitude'],
  ]);
  expect(seen[0]).toMatchObject({ before: { count: 2, magnitude: 1 }, after: { count: 3, magnitude: 3 } });
  expect(seen[0]?.magnitudeDrift).toBeCloseTo(2, 12);
  expect(seen[0]?.message).toMatch(/^magnitude went from 1 to 3/);
  expect(memory.conservation.counts).toEqual({ checked: 4, violations: 3, refused: 0 });
  await memory.close();
});

test('records are read at the first write, and a write that fails leaves the metrics as they were', async () => {
  const records = new Map([make('a', 1), make('b', 1)].map((record) => [record.id, memoryRecordSchema.parse(record)]));
  let readings = 0;
  const guard = new ConservationGuard(
    {
      sequence: 0,
      records: () => {
        readings++;
        return records.values();
      },
      get: (id) => records.get(id) ?? null,
      watch: () => () => {},
    },
    D,
    { mode: 'refuse', magnitudeThreshold: 0.5, halfLifeHours: null },
  );
  expect(readings).toBe(0);
  const put = [memoryRecordSchema.parse(make('c', 1.6))];
  const fail = guard.run(async (admit) => {
    admit({ put, removed: [] });
    throw new StorageError('write', 'disk');
  });
  await expect(fail).rejects.toThrow(StorageError);
  expect([guard.measure(), guard.counts]).toMatchObject([
    { count: 2, magnitude: 1 },
    { checked: 1, violations: 0 },
  ]);
  const refused = guard.run(async (admit) => admit({ put: [memoryRecordSchema.parse(make('c', 9))], removed: ['a'] }));
  await expect(refused).rejects.toThrow('magnitude went from 1 to 5, a drift of 4;');
  expect(readings).toBeGreaterThan(0);
});

test('the salience of a record fades as newer records come, and grows with its uses', async () => {
  const { memory } = await openListening({ halfLifeHours: 2 });
  const add = (id: string, hours: number, importance: number) =>
    memory.add({ ...make(id, 1, importance), createdAt: hours * 3_600_000 });
  await add('a', 10, 0.8);
  expect([memory.conservation.getSalience('a'), memory.conservation.getSalience('b')]).toEqual([0.8, null]);
  await add('b', 14, 0.8);
  await add('c', 90, 0);
  expect(memory.conservation.getSalience('a')).toBeCloseTo(0.2, 12);
  await reinforce(memory, ['a']);
  expect(memory.conservation.getSalience('a')).toBeCloseTo(0.2 * (1 + Math.LN2), 12);
  await memory.close();
});

test('a threshold decides which change breaks a law', async () => {
  const { memory, seen } = await openListening({ mode: 'warn', magnitudeThreshold: 2 });
  await memory.addBatch([make('a', 1), make('b', 1)]);
  await memory.add(make('c', 7));
  expect(seen).toEqual([]);
  await memory.add(make('d', 100));
  expect(seen).toHaveLength(1);
  await memory.close();
});

test('in the mode refuse such a change is an error, and nothing is changed', async () => {
  const { memory, seen } = await openListening({ mode: 'refuse' });
  await memory.addBatch([make('a', 1), make('b', 1)]);
  const before = memory.sequence;
  const refused = [
    memory.add(make('c', 7)),
    memory.addBatch([make('d', 1), make('e', 0.5)]),
    memory.upsert([make('a', 3)]),
  ];
  for (const write of refused) await expect(write).rejects.toThrow(ConservationViolationError);
  await expect(memory.add(make('a', 1))).rejects.toThrow('already has the record: a');
  expect(seen.map(({ sequence, ids }) => [sequence, ids])).toEqual([
    [null, ['c']],
    [null, ['d', 'e']],
    [null, ['a']],
  ]);
  await memory.add(make('f', 1.1));
  await expect(memory.addBatch([make('g', 1), make('h', 1.09)])).resolves.toEqual(['g', 'h']);
  await memory.remove('f');
  expect([memory.sequence, listIds(memory)]).toEqual([before + 3, ['a', 'b', 'g', 'h']]);
  expect(memory.conservation.counts).toEqual({ checked: 7, violations: 3, refused: 3 });
  for (const id of ['a', 'b', 'g']) await memory.remove(id);
  await expect(memory.remove('h')).rejects.toThrow('magnitude went from');
  await memory.close();
});

test.each([
  ['refused', { conservation: { mode: 'refuse' } }],
  ['placed', { coordinates: true }],
  ['both', { conservation: { mode: 'refuse' }, coordinates: true }],
] as const)('writes that wait for each other are done before the memory is closed: %s', async (_, waiting) => {
  const options = { folder: nameFolder(), dimension: D, indexes: {}, ...waiting } as const;
  const memory = await openMemory(options);
  const ids = Array.from({ length: 20 }, (_, i) => `r${i}`).sort();
  const writes = ids.map((id) => memory.add(make(id, 1)));
  const closed = memory.close();
  expect(await Promise.all(writes)).toEqual(ids);
  await closed;
  const again = await openMemory(options);
  expect(listIds(again)).toEqual(ids);
  await again.close();
});

test('what must be forgotten is not refused, and is reported', async () => {
  const { memory, seen } = await openListening({ mode: 'refuse' });
  await memory.addBatch([make('a', 1), make('b', 5)]);
  await expect(memory.remove('b')).rejects.toThrow(ConservationViolationError);
  const { conservation } = await memory.removeWhere({ filter: "id = 'b'" });
  expect(conservation.warnings).toEqual([seen[1]?.message]);
  expect([seen[1]?.sequence, listIds(memory)]).toEqual([2, ['a']]);
  await memory.close();
});

test('records without salience have no metrics, and break no law', async () => {
  const { memory, seen } = await openListening({ mode: 'refuse' });
  await memory.addBatch([make('a', 1, 0), make('b', 5, 0)]);
  expect(memory.conservation.measure()).toBeNull();
  await memory.add(make('c', 9));
  await memory.add(make('d', 900, 0));
  expect([seen, memory.conservation.measure()?.magnitude]).toEqual([[], 9]);
  await memory.close();
});

interface DrawnWrite {
  readonly kind: 'put' | 'remove' | 'forget' | 'reinforce' | 'outcome' | 'restart' | 'snapshot';
  readonly ids: readonly string[];
  readonly length: number;
  readonly importance: number;
  readonly day: number;
}

const drawnWrite: fc.Arbitrary<DrawnWrite> = fc.record({
  kind: fc.constantFrom(
    ...(['put', 'put', 'put', 'remove', 'remove', 'forget', 'reinforce', 'outcome', 'restart', 'snapshot'] as const),
  ),
  ids: fc.uniqueArray(
    fc.nat(15).map((i) => `r${i}`),
    { minLength: 1, maxLength: 5 },
  ),
  length: fc.constantFrom(0, 0.9, 1, 1.1, 8),
  importance: fc.constantFrom(0, 0.2, 0.9),
  day: fc.nat(400),
});

async function perform(memory: Memory, { kind, ids, length, importance, day }: DrawnWrite): Promise<unknown> {
  const [id = ''] = ids;
  const put = ids.map((own, i) => ({
    ...{ id: own, context: `day ${day}`, createdAt: day * 86_400_000, metadata: { importance } },
    embedding: Float32Array.of(length, i % 2, 1),
  }));
  if (kind === 'put') return memory.upsert(put);
  if (kind === 'remove') return memory.remove(id);
  if (kind === 'forget') return memory.removeWhere({ filter: `id = '${id}'` });
  if (kind === 'reinforce') return reinforce(memory, [id]);
  return kind === 'outcome' ? memory.updateStats(id, 1) : memory.snapshot();
}

test.each([
  ['warn', null],
  ['warn', 240],
  ['refuse', null],
  ['refuse', 240],
] as const)(
  'mode %s, half-life %s: any changes, many at once, give the metrics of a fresh computation',
  async (mode, halfLifeHours) => {
    const batches = fc.array(fc.array(drawnWrite, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 9 });
    await fc.assert(
      fc.asyncProperty(batches, async (drawn) => {
        const [options, folder] = [{ mode, halfLifeHours, magnitudeThreshold: 0.2 }, nameFolder()];
        let memory = await open(options, folder);
        for (const writes of drawn) {
          await Promise.allSettled(writes.map((one) => perform(memory, one)));
          if (writes.some(({ kind }) => kind === 'restart')) {
            await memory.close();
            memory = await open(options, folder);
          }
          const fresh = measureRecords(() => memory.records(), D, halfLifeHours);
          expectSame(memory.conservation.measure(), fresh);
        }
        await memory.close();
      }),
      { numRuns: 8 },
    );
  },
);

test('a decision of a curation is refused as a whole, and undoing is not refused', async () => {
  const memory = await open({ mode: 'refuse', magnitudeThreshold: 0.3 });
  const curator = await openCurator(memory, nameFolder(), {}, { fsync: 'never' });
  const note = (id: string, context: string, length: number, createdAt: number) => ({
    ...{ id, context, createdAt, embedding: Float32Array.of(length, 0.1, 0) },
  });
  await curator.curate(note('r0', 'Ada lives in London', 1, 1));
  await expect(curator.curate(note('r1', 'Ada no longer lives in London', 9, 2))).rejects.toThrow(
    ConservationViolationError,
  );
  expect([listIds(memory), memory.get('r0')?.metadata, curator.entries().length]).toEqual([['r0'], {}, 1]);
  const { operation } = await curator.curate(note('r2', 'Ada no longer lives in London', 1.4, 3));
  expect([operation, listIds(memory)]).toEqual(['delete', ['r0', 'r2']]);
  expect(await curator.undo('all')).toBe(2);
  expect([memory.size, memory.conservation.counts.violations]).toEqual([0, 2]);
  await curator.close();
  await memory.close();
});

test('a consolidation is refused as a whole, and a change by one that is warned of is reported', async () => {
  const talk = Array.from({ length: 5 }, (_, i) => ({
    ...{ id: `t${i}`, createdAt: i, conversationId: 'talk', embedding: Float32Array.of(9, i, 0) },
    context: `The printer prints ${i + 10} blank pages since the new toner.`,
  }));
  for (const mode of ['refuse', 'warn'] as const) {
    const { memory, seen } = await openListening({ mode });
    await memory.addBatch(talk);
    const consolidator = await openConsolidator(memory, nameFolder(), {}, { fsync: 'never' });
    const done = consolidator.consolidate();
    if (mode === 'refuse') await expect(done).rejects.toThrow(ConservationViolationError);
    else expect(await done).toHaveLength(1);
    expect([memory.size, consolidator.consolidations().length]).toEqual(mode === 'refuse' ? [5, 0] : [6, 1]);
    expect(seen.map(({ sequence, ids }) => [sequence, ids.map((id) => id.slice(0, 8))])).toEqual([
      [mode === 'refuse' ? null : 2, ['summary:']],
    ]);
    await consolidator.close();
    await memory.close();
  }
});
