import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ConfigurationError, RecordNotFoundError, ValidationError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import type { MemoryRecordInput } from '../../model/turns/turn.ts';
import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import {
  type ConsolidationOptions,
  type Consolidator,
  openConsolidator,
  type RetrievalCounts,
} from './consolidator.ts';
import { QueryPatternTracker } from './query-pattern-tracker.ts';
import { reinforce } from './reinforce.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-consolidation-'));
beforeAll(() => useBackend('wasm'));
afterAll(() => rmSync(root, { recursive: true }));
const folder = join(root, 'log');
beforeEach(() => rmSync(folder, { recursive: true, force: true }));

const record = (id: string, createdAt: number, context: string, more: Partial<MemoryRecordInput> = {}) => {
  const embedding = Float32Array.of(1, createdAt / 10, 0);
  return { id, createdAt, context, embedding, conversationId: 'talk', channel: 'monday', ...more };
};
const TALK = [
  record('t1', 1, 'The printer in the hall prints blank pages again. Good morning!'),
  record('t2', 2, 'The printer prints blank pages since the new toner.'),
  record('t3', 3, 'Ada ordered another toner for the printer on Tuesday.'),
  record('t4', 4, 'Lunch today is lentil soup with bread.'),
  record('t5', 5, 'The old toner works, so the printer prints pages.'),
];

/** A request, and what was done about it with an outcome. */
function attempt(i: number, outcome: number, more: Partial<MemoryRecordInput> = {}): MemoryRecordInput[] {
  const at = { conversationId: `ticket ${i}`, channel: null, ...more };
  const [asked, done] = [Float32Array.of(0, 1, i / 100), Float32Array.of(0, i / 100, 1)];
  return [
    record(`ask${i}`, 10 * i, `Printer ${i} prints blank pages`, { ...at, embedding: asked }),
    record(`do${i}`, 10 * i + 1, `Changed toner ${i}`, { ...at, embedding: done, parentId: `ask${i}`, outcome }),
  ];
}
const ATTEMPTS = [0.9, 0.8, 1].flatMap((outcome, i) => attempt(i + 1, outcome));

async function withConsolidator(
  records: readonly MemoryRecordInput[],
  options: ConsolidationOptions,
  work: (consolidator: Consolidator, memory: Memory) => Promise<void>,
  retrievals?: RetrievalCounts,
): Promise<void> {
  const memory = await openMemory({ dimension: 3 });
  await memory.addBatch(records);
  const settings = { fsync: 'never', ...(retrievals && { retrievals }) } as const;
  const consolidator = await openConsolidator(memory, folder, options, settings);
  await work(consolidator, memory);
  await consolidator.close();
  await memory.close();
}
const list = (memory: Memory) => JSON.stringify([...memory.records()]);
const listWritten = (memory: Memory) => [...memory.records()].filter(({ metadata }) => 'episodes' in metadata);

test('a session gets a summary in its own words, which is found as its sentences are, and knows its episodes', () =>
  withConsolidator(TALK, { sentences: 2 }, async (consolidator, memory) => {
    await consolidator.consolidate();
    const [summary, ...others] = listWritten(memory);
    expect(others).toEqual([]);
    expect(summary).toMatchObject({
      context: 'The printer prints blank pages since the new toner. The old toner works, so the printer prints pages.',
      metadata: { memoryType: 'summary', importance: 0.9, episodes: ['t1', 't2', 't3', 't4', 't5'] },
      ...{ createdAt: 5, conversationId: 'talk', channel: 'monday', outcome: null },
    });
    expect(Math.hypot(...(summary?.embedding ?? []))).toBeCloseTo(1, 6);
    const [found] = await memory.searchOnly(Float32Array.of(1, 0.345, 0), 1);
    expect(found?.id).toBe(summary?.id);
  }));

test('outcomes that repeat become a procedure with its prior', () =>
  withConsolidator(ATTEMPTS, {}, async (consolidator, memory) => {
    await consolidator.consolidate();
    const [procedure, ...others] = listWritten(memory);
    expect(others).toEqual([]);
    const prior = memory.computePriors([0.9, 0.8, 1].map((outcome) => ({ outcome })));
    expect(procedure).toMatchObject({
      ...{ context: 'Changed toner 2', outcome: null, createdAt: 31, conversationId: 'several conversations' },
      metadata: {
        ...{
          memoryType: 'procedural',
          importance: 0.8,
          trigger: 'Printer 2 prints blank pages',
          action: 'Changed toner 2',
        },
        episodes: ['ask1', 'do1', 'ask2', 'do2', 'ask3', 'do3'],
        ...{ priorCount: 3, priorMean: prior.mean, priorConfidence: 3 / 8 },
        ...{ priorLow: prior.interval?.[0], priorHigh: prior.interval?.[1] },
      },
    });
  }));

test.each([
  ['outcomes that differ', [...attempt(1, 0), ...attempt(2, 1), ...attempt(3, 1)]],
  ['too few', [...attempt(1, 1), ...attempt(2, 1)]],
  [
    'other actions',
    [1, 2, 3]
      .flatMap((i) => attempt(i, 1))
      .map((one) => ('outcome' in one && one.id === 'do2' ? { ...one, embedding: Float32Array.of(1, 0, 0) } : one)),
  ],
  ['people who differ', [1, 2, 3].flatMap((i) => attempt(i, 1, { metadata: { userId: `u${i}` } }))],
  ['sensitive records', [1, 2, 3].flatMap((i) => attempt(i, 1, { metadata: { sensitive: true } }))],
  ['superseded records', TALK.map((one) => ({ ...one, metadata: { status: 'superseded' } }))],
  ['facts', TALK.map((one) => ({ ...one, metadata: { memoryType: 'semantic' } }))],
  ['sentences without content', TALK.map((one) => ({ ...one, context: 'Yes.' }))],
])('nothing is written of %s', (_, records) =>
  withConsolidator(records, {}, async (consolidator) => {
    expect(await consolidator.consolidate()).toEqual([]);
    expect(consolidator.consolidations()).toEqual([]);
  }),
);

test('a dry run writes nothing; undoing brings every byte back, also after the log was opened again', async () => {
  const all = [...TALK, ...ATTEMPTS];
  const memory = await openMemory({ dimension: 3 });
  await memory.addBatch(all);
  await memory.updateStats('t1', 0.5);
  const before = list(memory);
  const first = await openConsolidator(memory, folder);
  const planned = await first.plan();
  expect(list(memory)).toBe(before);
  expect(await first.consolidate()).toEqual(planned);
  expect(await first.consolidate()).toEqual([]); // nothing has changed
  const once = list(memory);
  await memory.add(record('t6', 6, 'The printer in the cellar needs paper and toner.'));
  const grown = list(memory);
  const [again, ...others] = await first.consolidate();
  expect([again?.before?.metadata.memoryType, others]).toEqual(['summary', []]);
  await first.close();
  const second = await openConsolidator(memory, folder);
  expect(await second.undo()).toBe(1);
  expect(list(memory)).toBe(grown);
  await memory.remove('t6');
  expect(list(memory)).toBe(once);
  expect(await second.undo('all')).toBe(1);
  expect(list(memory)).toBe(before);
  await second.close();
});

test('what was observed of a summary is kept, and what lost an episode is removed', () =>
  withConsolidator([...TALK, record('t0', 0, 'The printer prints.')], {}, async (consolidator, memory) => {
    await consolidator.consolidate();
    const { id } = listWritten(memory)[0] as { id: string };
    await memory.updateStats(id, 1);
    await reinforce(memory, [id, id]);
    await memory.remove('t0');
    await consolidator.consolidate();
    expect(memory.get(id)).toMatchObject({ stats: { count: 1 }, metadata: { useCount: 1, episodes: { length: 5 } } });
    await memory.remove('t5');
    expect(await consolidator.consolidate()).toMatchObject([{ id, after: null }]);
    expect(listWritten(memory)).toEqual([]);
    await expect(reinforce(memory, [id])).rejects.toThrow(RecordNotFoundError);
  }));

test('only sessions that are retrieved often enough', async () => {
  const tracker = new QueryPatternTracker();
  for (const time of [1, 2]) tracker.record(['t4'], time);
  const count = (min: number) =>
    withConsolidator(
      TALK,
      { minRetrievals: min },
      async (consolidator) => {
        expect(await consolidator.plan()).toHaveLength(min < 3 ? 1 : 0);
      },
      tracker,
    );
  for (const min of [0, 2, 3]) await count(min);
  await expect(withConsolidator(TALK, { minRetrievals: 1 }, async () => {})).rejects.toThrow(/no retrievals are known/);
});

test('records of the caller are not replaced; changed ones are not undone; unknown options are refused', () =>
  withConsolidator(TALK, {}, async (consolidator, memory) => {
    const [{ id } = { id: '' }] = await consolidator.consolidate();
    await memory.upsert([record(id, 9, 'mine')]);
    await expect(consolidator.undo()).rejects.toThrow(ValidationError);
    await expect(consolidator.consolidate()).rejects.toThrow(`record ${id} is no consolidation; give it another id`);
    await expect(openConsolidator(memory, join(root, 'other'), { sentence: 3 } as never)).rejects.toThrow(
      ConfigurationError,
    );
    expect(readdirSync(root)).not.toContain('other');
  }));
