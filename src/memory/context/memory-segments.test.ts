import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tf from '@tensorflow/tfjs-core';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Encoder } from '../../model/encoder.ts';
import { toTurn } from '../../model/turns/turn.ts';
import { openCurator } from '../curation/curator.ts';
import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import { assemble } from './assemble.ts';
import { ContextCache } from './context-cache.ts';
import { type MemorySources, openMemorySources } from './memory-sources.ts';
import type { MemorySourcesInput } from './memory-sources-options.ts';

const HOUR = 3_600_000;
const now = Date.UTC(2024, 4, 15, 12);
const PATIENCE: MemorySourcesInput = { timeoutMs: 60_000, minCosine: -1 };
const OPTIONS = { rerank: 'none', timeoutMs: 60_000, timeZone: null } as const;

/** Texts on a circle, by their first number in degrees. */
const encoder: Encoder = {
  ...{ name: 'degrees', dimension: 2, identity: {}, dispose() {} },
  encode: async (texts) => Float32Array.from(texts.flatMap((text) => embed(Number(/\d+/.exec(text)?.[0] ?? 0)))),
};
const embed = (degrees: number) => [Math.cos((degrees * Math.PI) / 180), Math.sin((degrees * Math.PI) / 180)];

const record = (id: string, degrees: number, hoursAgo: number, metadata: Record<string, string | string[]> = {}) => ({
  ...{ id, context: `Note ${degrees} of ${id}`, createdAt: now - hoursAgo * HOUR, outcome: null, metadata },
  embedding: Float32Array.from(embed(degrees)),
});

let memory: Memory;
beforeAll(() => useBackend('wasm'));
beforeEach(async () => {
  memory = await openMemory({ folder: null, dimension: 2 });
});

const root = mkdtempSync(join(tmpdir(), 'ragpp-segments-'));
afterAll(() => rmSync(root, { recursive: true }));

const openFresh = () => {
  const turns = [...memory.records()].map((one) => ({ ...toTurn(one), parentId: null }));
  return openMemorySources({ turns, encoder, vectorOf: (id) => memory.get(id)?.embedding as Float32Array }, PATIENCE);
};

const askMemories = async (sources: MemorySources) => {
  const { sources: answers } = await assemble('What of 10?', OPTIONS, sources, { now });
  return answers.find(({ name }) => name === 'memories');
};

test('a filter by a misspelt attribute is an error, as soon as a record is there', async () => {
  const open = (filter: string) => openMemorySources({ memory, encoder }, { ...PATIENCE, filter });
  const misspelt = /expected an attribute that a memory has, got usreId; did you mean userId\?/;
  const sources = await open("usreId = 'u1'");
  const ask = () => askMemories(sources);
  expect(await ask()).toMatchObject({ fault: null, items: [] });
  await memory.addBatch([record('m1', 10, 3, { userId: 'u1' }), record('m2', 20, 2)]);
  expect((await ask())?.fault).toMatch(misspelt);
  expect((await ask())?.fault).toMatch(misspelt);
  await expect(open("usreId = 'u1'")).rejects.toThrow(misspelt);
  expect((await askMemories(await open("exists usreId and usreId = 'u1'")))?.fault).toBeNull();
  const right = await open("userId = 'u1'");
  await memory.remove('m1'); // The name stays known
  expect(await askMemories(right)).toMatchObject({ fault: null, items: [] });
  await memory.add(record('m3', 30, 1, { usreId: 'u1' }));
  expect((await ask())?.items.map(({ id }) => id)).toEqual(['m3']);
});

test('a prompt holds the memories of its moment: added, replaced, removed and curated', async () => {
  await memory.addBatch([record('m1', 10, 3), record('m2', 90, 2)]);
  const sources = await openMemorySources({ memory, encoder }, { ...PATIENCE, selection: { method: 'mmr' } });
  const cache = new ContextCache(sources);
  const show = async () => {
    const { prompt } = await assemble('What of 10?', OPTIONS, sources, { now });
    const kept = await cache.assemble('What of 10?', OPTIONS, { now, version: 'always the same' });
    expect(kept.prompt).toBe(prompt);
    return [...prompt.matchAll(/- (.*) \(/g)].map(([, text]) => text).sort();
  };
  expect(await show()).toEqual(['Note 10 of m1', 'Note 90 of m2']);
  expect(await show()).toEqual(['Note 10 of m1', 'Note 90 of m2']);
  expect(cache.use).toEqual({ hits: 1, misses: 1, size: 1 });
  await memory.remove('m1');
  expect(await show()).toEqual(['Note 90 of m2']);
  await memory.add(record('m3', 150, 1));
  expect(await show()).toEqual(['Note 150 of m3', 'Note 90 of m2']);
  await memory.upsert([record('m2', 200, 2)]);
  expect(await show()).toEqual(['Note 150 of m3', 'Note 200 of m2']);
  const curator = await openCurator(memory, join(root, 'curation'), {}, { fsync: 'never' });
  await curator.curate({ ...record('m4', 150, 0.5), context: 'Note 150 of m3 and more' });
  expect(memory.get('m2')?.metadata.status).toBe('superseded');
  expect(await show()).toEqual(['Note 150 of m3', 'Note 150 of m3 and more']);
  await curator.close();
  for (const { id } of [...memory.records()]) await memory.remove(id);
  expect(await show()).toEqual([]);
  sources.dispose();
  await memory.close();
});

describe('sources that follow', () => {
  const kinds = [
    {},
    { entities: ['customer:acme', 'customer:kai'] },
    { entities: ['customer:acme'], memoryType: 'semantic', subject: 'Acme', predicate: 'wants', object: 'tea' },
    { memoryType: 'procedural', trigger: 'Acme calls', action: 'answer' },
    { memoryType: 'summary' },
    { source: 'documents' },
  ];
  const change = fc.record({
    id: fc.integer({ min: 0, max: 29 }).map((number) => `m${number}`),
    degrees: fc.integer({ min: 0, max: 359 }),
    hoursAgo: fc.integer({ min: -2, max: 60 }),
    kind: fc.constantFrom(...kinds),
    isGone: fc.boolean(),
  });
  const questions = ['What did Acme order at 40?', 'How do I handle 100?', 'What happened yesterday?', 'Who is Kai?'];

  test('answer as sources that are opened again, without a tensor left', async () => {
    const before = tf.memory().numTensors;
    const property = fc.asyncProperty(
      fc.array(fc.array(change, { maxLength: 12 }), { maxLength: 6 }),
      async (rounds) => {
        memory = await openMemory({ folder: null, dimension: 2 });
        const sources = await openMemorySources({ memory, encoder }, PATIENCE);
        for (const [round, changes] of rounds.entries()) {
          for (const { id, degrees, hoursAgo, kind, isGone } of changes)
            await (isGone ? memory.remove(id) : memory.upsert([record(id, degrees, hoursAgo, kind)]));
          const fresh = await openFresh();
          const session = round % 3 === 2 ? 'nobody' : null;
          for (const question of questions) {
            const options = { ...OPTIONS, session };
            const [followed, opened] = await Promise.all(
              [sources, fresh].map((own) => assemble(question, options, own, { now })),
            );
            expect(followed).toEqual(opened);
          }
          fresh.dispose();
        }
        sources.dispose();
        await memory.close();
      },
    );
    await fc.assert(property, { numRuns: 25 });
    expect(tf.memory().numTensors).toBe(before);
  });

  test('read what a change names and no other record', async () => {
    await memory.addBatch(Array.from({ length: 300 }, (_, i) => record(`m${i}`, i, i)));
    const read: string[] = [];
    const counted = {
      get(id: string) {
        read.push(id);
        return memory.get(id);
      },
      records() {
        read.push('all');
        return memory.records();
      },
      watch: (notify: (ids: readonly string[]) => void) => memory.watch(notify),
    };
    const sources = await openMemorySources({ memory: counted, encoder }, PATIENCE);
    const ask = () => assemble('What of 10?', OPTIONS, sources, { now });
    await ask();
    await memory.remove('m9');
    await Promise.all([ask(), ask()]);
    await memory.add(record('new', 10, 1));
    expect((await ask()).items.map(({ id }) => id)).toContain('new');
    await ask();
    expect(read).toEqual(['all', 'm9', 'new']);
    sources.dispose();
    await memory.add(record('later', 10, 1));
    expect(read).toHaveLength(3);
  });

  test('never show a removed memory, also while a record cannot be shown', async () => {
    await memory.addBatch([record('m1', 10, 3), record('m2', 90, 2)]);
    const sources = await openMemorySources({ memory, encoder }, PATIENCE);
    const ask = () => assemble('What of 10?', OPTIONS, sources, { now });
    await memory.add({ ...record('long', 10, 1), embedding: Float32Array.of(3, 4) });
    expect((await ask()).sources[0]?.fault).toContain('vector of turn long has length 5');
    await memory.remove('m1');
    await memory.remove('long');
    expect((await ask()).items.map(({ id }) => id)).toEqual(['m2']);
    sources.dispose();
  });
});
