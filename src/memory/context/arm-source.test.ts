import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import { embedWords, serveSteps } from '../engine/served-arm.fixture.ts';
import { createArmSource } from './arm-source.ts';
import { assemble } from './assemble.ts';
import type { ContextItem } from './source.ts';

beforeAll(() => useBackend('wasm'));

const HOUR = 3_600_000;
const openWords = () => openMemory({ arm: serveSteps([{ search: { bm25: { k: 9 } } }]), cache: { enabled: false } });
const addText = (memory: Memory, id: string, hour: number, context: string, more: object = {}) =>
  memory.add({
    id,
    context,
    createdAt: hour * HOUR,
    embedding: embedWords(context),
    conversationId: 'kitchen',
    ...more,
  });
const ask = (memory: Memory, query: string, now: number, session: string | null = null) =>
  assemble(query, { strategy: 'hybrid', rerank: 'none', session }, { memories: memory }, { now });

test('the prompt has the records of the arm in its order, with their parts, their times and no later one', async () => {
  const memory = await openWords();
  await addText(memory, 'a', 1, 'the soup needs salt');
  await addText(memory, 'b', 2, 'salt salt salt', { conversationId: 'cellar', author: 'bo' });
  await addText(memory, 'c', 9, 'salt is gone');
  const { items, prompt } = await ask(memory, 'When was there salt?', 3 * HOUR);
  expect(items.map(({ id }) => id)).toEqual(['b', 'a']);
  expect(prompt).toContain('- bo: salt salt salt (memory:cellar, Thursday 1970-01-01 02:00 UTC, 1 hour ago)');
  expect((await ask(memory, 'salt', 3 * HOUR, 'kitchen')).items.map(({ id }) => id)).toEqual(['a']);
  const source = createArmSource(memory, { question: { author: 'ana' } });
  const [found] = (await source({
    query: 'salt',
    k: 1,
    session: null,
    now: 3 * HOUR,
    signal: new AbortController().signal,
  })) as never[];
  expect(found).toMatchObject({ id: 'b', parts: { bm25: expect.any(Number) } });
  expect(source.readVersion?.()).toBe(3);
  await memory.close();
});

test('a sensitive record is in no prompt but that of a sensitive question', async () => {
  const memory = await openWords();
  await addText(memory, 'a', 1, 'the soup needs salt');
  await addText(memory, 'b', 2, 'the secret of the soup is salt', { metadata: { sensitive: true } });
  const { prompt, items } = await ask(memory, 'soup with salt', 3 * HOUR);
  expect([items.map(({ id }) => id), prompt.includes('secret')]).toEqual([['a'], false]);
  const withheld: string[] = [];
  const request = { query: 'soup', k: 9, session: null, now: 3 * HOUR, signal: new AbortController().signal };
  const list = async (sensitive: boolean) => {
    const onWithheld = ({ id }: { readonly id: string }) => withheld.push(id);
    const source = createArmSource(memory, { question: { attributes: { sensitive } }, onWithheld });
    return ((await source(request)) as readonly ContextItem[]).map(({ id }) => id).sort();
  };
  expect([await list(false), withheld]).toEqual([['a'], ['b']]);
  expect([await list(true), withheld]).toEqual([['a', 'b'], ['b']]);
  await memory.close();
});
