import * as tf from '@tensorflow/tfjs-core';
import { beforeAll, expect, test } from 'vitest';
import { createRandom, type Random } from '../../core/numbers/random.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import type { MemoryRecordInput, Turn } from '../../model/turns/turn.ts';
import type { OutcomePool } from '../outcomes/outcome-statistics.ts';
import { reinforce } from '../patterns/reinforce.ts';
import type { Memory } from './memory.ts';
import { ObservedOutcomes } from './observed-outcomes.ts';
import { openMemory } from './open-memory.ts';
import { embedWords, serveSteps } from './served-arm.fixture.ts';
import type { ServedArm } from './served-arm.ts';

beforeAll(() => useBackend('wasm'));

const HOUR = 3_600_000;
const POOLS: readonly OutcomePool[] = ['outcome', 'stats', 'both'];
const words = { search: { bm25: { k: 40 }, newest: { k: 40 } } };
const ARMS: Readonly<Record<string, ServedArm>> = {
  boosted: serveSteps([words, { fuse: { only: 'bm25' } }, { boost: [{ attribute: 'outcome', factor: 0.5 }] }]),
  filtered: serveSteps([{ filter: 'outcome >= 0.5' }, words, { filter: 'not outcome < 0.6' }, { fuse: { rrf: {} } }]),
  mixed: serveSteps([
    words,
    {
      mix: {
        signals: { groups: ['attributes', 'memory'], encoders: [] },
        weights: { outcome: 1, 'memory.uses': 0.8, 'memory.time': 0.1 },
      },
    },
  ]),
};

const record = (id: string, context: string, hour: number, more: Partial<MemoryRecordInput> = {}) => ({
  ...{ id, context, createdAt: hour * HOUR, embedding: embedWords(context), conversationId: 'kitchen' },
  ...more,
});
const open = async (arm: ServedArm, records: readonly MemoryRecordInput[]) => {
  const memory = await openMemory({ arm });
  await memory.addBatch(records);
  return memory;
};
const listIds = async (memory: Memory, text = 'soup', pool: OutcomePool = 'both') =>
  (await memory.ask({ text, pool })).ranking.map(({ id }) => id);

test('an outcome of a turn is the mean of the observations that a pool counts', () => {
  const turn = (id: string, more: Partial<Turn> = {}): Turn => ({
    ...{ id, conversationId: 'c', parentId: null, timestamp: 0, author: null, channel: null, text: id },
    ...more,
  });
  const base = new Corpus([turn('a', { attributes: { outcome: 1, phase: 'x' } }), turn('b'), turn('c')]);
  const outcomes = new ObservedOutcomes();
  const read = (pool: OutcomePool) => outcomes.applyTo(base, pool).turns.map(({ attributes }) => attributes?.outcome);
  expect(outcomes.applyTo(base, 'both')).toBe(base);
  expect(POOLS.map(read)).toEqual([
    [1, undefined, undefined],
    [undefined, undefined, undefined],
    [1, undefined, undefined],
  ]);
  outcomes.set('a', { count: 3, mean: 0, m2: 0, min: 0, max: 0 });
  outcomes.set('b', { count: 1, mean: 0.5, m2: 0, min: 0.5, max: 0.5 });
  expect(POOLS.map(read)).toEqual([
    [1, undefined, undefined],
    [0, 0.5, undefined],
    [0.25, 0.5, undefined],
  ]);
  const both = outcomes.applyTo(base, 'both');
  expect(outcomes.applyTo(base, 'both')).toBe(both);
  expect(both.getTurn('a').attributes).toEqual({ phase: 'x', outcome: 0.25 });
  expect(both.getTurn('c')).toBe(base.getTurn('c'));
  outcomes.set('b', null);
  expect(read('both')).toEqual([0.25, undefined, undefined]);
});

test('an outcome that is observed later moves its record, by the pool of the question', async () => {
  const memory = await open(ARMS.boosted as ServedArm, [
    record('a', 'the soup', 1, { outcome: 1 }),
    record('b', 'the soup', 2),
  ]);
  expect(await listIds(memory)).toEqual(['a', 'b']);
  for (const outcome of [0, 0, 0]) await memory.updateStats('a', outcome);
  await memory.updateStats('b', 1);
  expect(await listIds(memory)).toEqual(['b', 'a']);
  expect(await listIds(memory, 'soup', 'stats')).toEqual(['b', 'a']);
  expect(await listIds(memory, 'soup', 'outcome')).toEqual(['a', 'b']);
  await memory.close();
});

test('a use that is counted later moves its record', async () => {
  const metadata = { useCount: 0 };
  const memory = await open(ARMS.mixed as ServedArm, [
    record('a', 'the soup', 1, { metadata }),
    record('b', 'the soup', 2, { metadata }),
  ]);
  expect(await listIds(memory)).toEqual(['b', 'a']);
  await reinforce(memory, ['a']);
  expect(await listIds(memory)).toEqual(['a', 'b']);
  await memory.close();
});

test('after an observation no turn is embedded again', async () => {
  let embedded = 0;
  const arm = serveSteps(
    [
      words,
      {
        mix: {
          signals: { groups: ['attributes', 'text'], encoders: [{ encoder: 'lsa', dimension: 7 }] },
          weights: { outcome: 1 },
        },
      },
    ],
    {
      embed: (texts, owners, encoder) => {
        if (owners[0]?.kind === 'turn') embedded++;
        return (ARMS.boosted as ServedArm).embed(texts, owners, encoder);
      },
    },
  );
  const memory = await open(arm, [record('a', 'the soup', 1), record('b', 'the soup', 2)]);
  await memory.ask({ text: 'soup' });
  const before = { embedded, tensors: tf.memory().numTensors };
  expect(before.embedded).toBeGreaterThan(0);
  await memory.updateStats('a', 1);
  expect(await listIds(memory)).toEqual(['a', 'b']);
  expect({ embedded, tensors: tf.memory().numTensors }).toEqual(before);
  await memory.add(record('c', 'the soup', 3));
  await memory.ask({ text: 'soup' });
  expect(embedded).toBeGreaterThan(before.embedded);
  await memory.close();
});

const pick = <T>(from: readonly T[], source: Random): T => from[source.integer(from.length)] as T;
const FOODS = ['soup', 'bread', 'salt', 'tea', 'rice'];

/** Adds, replaces or removes a record, observes an outcome of one, or counts a use. */
async function change(memory: Memory, source: Random, step: number): Promise<void> {
  const records = [...memory.records()];
  const context = `${pick(FOODS, source)} and ${pick(FOODS, source)}`;
  const outcome = source.uniform() < 0.5 ? null : source.integer(2);
  const add = (id: string) =>
    memory.upsert([record(id, context, source.integer(40), { outcome, conversationId: pick(FOODS, source) })]);
  if (records.length < 5) return void (await add(`r${step}`));
  const { id } = pick(records, source);
  const observe = () => memory.updateStats(id, source.uniform());
  const kinds = [() => add(`r${step}`), () => add(id), () => memory.remove(id), () => reinforce(memory, [id]), observe];
  await pick<() => Promise<unknown>>([...kinds, observe, observe, observe], source)();
}

test.each(Object.entries(ARMS))(
  'after any changes and observations %s answers as a new memory does',
  async (name, arm) => {
    const source = createRandom(11, name);
    const memory = await openMemory({ arm, cache: { enabled: false } });
    let answered = 0;
    for (let step = 0; step < 90; step++) {
      await change(memory, source, step);
      if (step % 3 > 0) continue;
      const question = { text: pick(FOODS, source), pool: pick(POOLS, source), asOf: (10 + source.integer(40)) * HOUR };
      const copy = await open(arm, [...memory.records()]);
      const { ranking, prior } = await memory.ask(question);
      const expected = await copy.ask(question);
      expect({ ranking, prior }).toEqual({ ranking: expected.ranking, prior: expected.prior });
      answered += ranking.length;
      await copy.close();
    }
    expect(answered).toBeGreaterThan(30);
    await memory.close();
  },
);
