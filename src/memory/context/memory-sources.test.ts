import * as tf from '@tensorflow/tfjs-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UnavailableError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createEncoder } from '../../index/encoders/registry.ts';
import type { Encoder } from '../../model/encoder.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { assemble } from './assemble.ts';
import { type MemorySources, openMemorySources } from './memory-sources.ts';
import type { MemorySourcesInput } from './memory-sources-options.ts';

const DAY = 24 * 3_600_000;
/** Milliseconds that no machine is too slow for. */
const PATIENCE = 60_000;
const now = Date.UTC(2024, 4, 15, 12);
const remember = (id: string, daysAgo: number, text: string, attributes: Turn['attributes'] = {}): Turn => ({
  ...{ id, conversationId: id.startsWith('b') ? 's2' : 's1', parentId: null, author: null, channel: null },
  ...{ timestamp: now - daysAgo * DAY, text, attributes },
});
const fact = { memoryType: 'semantic', subject: 'Acme', predicate: 'prefers', entities: ['customer:acme'] };
const TURNS = [
  remember('a1', 40, 'Acme ordered forty boxes of green tea', { entities: ['customer:acme'] }),
  remember('a2', 39, 'Acme ordered forty boxes of green tea again', { entities: ['customer:acme'] }),
  remember('a3', 20, 'Acme prefers NET30', { ...fact, object: 'NET30' }),
  remember('a4', 60, 'Acme prefers NET60', { ...fact, object: 'NET60', status: 'superseded' }),
  remember('a5', 50, 'a rush order: call the depot', {
    ...{ memoryType: 'procedural', trigger: 'a rush order', action: 'call the depot', userId: 'u1' },
  }),
  remember('b1', 3, 'Kai Media asked for black coffee and boxes', { entities: ['customer:kai-media'], userId: 'u1' }),
  remember('b2', 2, 'Acme and Kai Media order boxes of tea and coffee each month', { memoryType: 'summary' }),
  remember('d1', 90, 'Rush orders leave the depot on the same day', { source: 'documents' }),
  remember('d2', 91, 'Green tea is shipped in boxes of forty', { source: 'documents' }),
  remember('b9', -1, 'Acme ordered green tea tomorrow', { entities: ['customer:acme'] }),
];

describe('sources of memories', () => {
  let encoder: Encoder;
  const opened: MemorySources[] = [];
  beforeAll(async () => {
    await useBackend('wasm');
    const lsa = { encoder: 'lsa', dimension: 8, minDocumentFrequency: 1, maxDocumentShare: 1 } as const;
    encoder = await createEncoder(lsa, { fitTexts: TURNS.map(({ text }) => text), seed: 3 });
  });
  afterAll(() => {
    for (const sources of opened) sources.dispose();
    encoder.dispose();
  });
  /** By another encoder the turns have vectors of their own. */
  const open = async (input: MemorySourcesInput = {}, by: Encoder = encoder) => {
    const vectorOf = by === encoder ? {} : { vectorOf: () => new Float32Array(8) };
    const sources = await openMemorySources(
      { turns: TURNS, encoder: by, ...vectorOf },
      { timeoutMs: PATIENCE, ...input },
    );
    opened.push(sources);
    return sources;
  };
  const ask = async (question: string, input: MemorySourcesInput = {}, options = {}, by: Encoder = encoder) => {
    const made = await assemble(question, { rerank: 'none', timeoutMs: PATIENCE, ...options }, await open(input, by), {
      now,
    });
    return { ...made, ids: made.items.map(({ id }) => id) };
  };

  test('make a prompt of documents and memories, without what is past or later', async () => {
    const { ids, prompt, sources } = await ask('How many boxes of green tea did Acme order?');
    expect(ids).toContain('d2');
    expect(ids).toContain('a3');
    expect(ids).not.toContain('a4');
    expect(ids).not.toContain('b9');
    expect(ids[0]).toBe('b2');
    expect(prompt).toContain('## Relevant Facts\n- Acme prefers NET30 (memory:s1)\n');
    const memories = sources.find(({ name }) => name === 'memories');
    expect(memories?.parts?.map(({ name, fault }) => [name, fault])).toEqual(
      ['semantic', 'entities', 'time', 'procedural', 'summaries'].map((name) => [name, null]),
    );
    expect(memories?.parts?.[1]?.items.map(({ id }) => id)).toEqual(['a3', 'a2', 'a1']);
  });

  test('find procedures for a question about a process', async () => {
    const { prompt } = await ask('How do I handle a rush order?');
    expect(prompt).toContain('- When: a rush order\n  Then: call the depot\n');
  });

  test('take near copies once, unless nothing is a duplicate', async () => {
    const copies = ['a1', 'a2'];
    const { ids } = await ask('What did Acme order?');
    expect(ids.filter((id) => copies.includes(id))).toHaveLength(1);
    const all = await ask('What did Acme order?', { selection: { method: 'mmr' } });
    expect(all.ids.filter((id) => copies.includes(id))).toHaveLength(2);
  });

  test('give no more than the most, nor other turns than the filter and the session let in', async () => {
    const few = await ask('What did Acme order?', { most: 2, minCosine: -1 });
    expect(few.sources.map(({ items }) => items.length)).toEqual([2, 2]);
    const own = { filter: 'userId = $query.userId', variables: { userId: 'u1' } };
    expect((await ask('What did Acme order?', { ...own, minCosine: -1 })).ids.sort()).toEqual(['a5', 'b1']);
    const session = await ask('What did Acme order?', { minCosine: -1 }, { strategy: 'hybrid', session: 's2' });
    expect(session.ids.sort()).toEqual(['b1', 'b2']);
  });

  test('are the same for the same question', async () => {
    expect((await ask('What did Acme order?')).prompt).toBe((await ask('What did Acme order?')).prompt);
  });

  test('leave out what fails and name it', async () => {
    const broken: Encoder = {
      ...{ name: 'away', dimension: 8, identity: {}, dispose: () => {} },
      encode: async () => {
        throw new UnavailableError('embeddings', 'the server is away; start it');
      },
    };
    const { sources, ids } = await ask('What did Acme order?', {}, { strategy: 'hybrid' }, broken);
    const parts = sources[0]?.parts ?? [];
    expect(parts.filter(({ fault }) => fault !== null).map(({ name }) => name)).toEqual(['semantic', 'procedural']);
    expect(parts[0]?.fault).toMatch('the server is away');
    expect(ids).toEqual(expect.arrayContaining(['a3', 'b2']));
    const alone = { limits: { entities: 0, time: 0, summaries: 0 } };
    const none = await ask('What did Acme order?', alone, { strategy: 'hybrid' }, broken);
    expect(none.sources[0]?.fault).toMatch(/every source failed.*the server is away/);
  });

  test('leave out what is late and name it', async () => {
    const slow: Encoder = {
      ...{ name: 'slow', dimension: 8, identity: {}, dispose: () => {} },
      encode: () => new Promise(() => {}),
    };
    const { sources } = await ask('What did Acme order?', { timeoutMs: 30 }, { strategy: 'hybrid' }, slow);
    expect(sources[0]?.parts?.[0]).toMatchObject({ name: 'semantic', items: [], fault: 'no answer within 30 ms' });
  });

  test('free what they made, also where they cannot be opened or cannot answer', async () => {
    const before = tf.memory().numTensors;
    const request = { query: 'What did Acme order?', k: 9, session: null, now, signal: AbortSignal.timeout(PATIENCE) };
    const made = await openMemorySources({ turns: TURNS, encoder }, { timeoutMs: PATIENCE });
    await made.memories(request);
    made.dispose();
    expect(tf.memory().numTensors).toBe(before);
    await expect(made.memories(request)).resolves.toMatchObject({
      parts: [{ fault: expect.stringMatching('disposed') }, {}, {}, {}, {}],
    });
    expect(tf.memory().numTensors).toBe(before);
    const long = () => new Float32Array(8).fill(1);
    await expect(openMemorySources({ turns: TURNS, encoder, vectorOf: long })).rejects.toThrow('has length');
    expect(tf.memory().numTensors).toBe(before);
  });

  test('refuse unknown options', async () => {
    await expect(open({ limits: { semantics: 3 } } as never)).rejects.toThrow('did you mean semantic?');
  });
});
