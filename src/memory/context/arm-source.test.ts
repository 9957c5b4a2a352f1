import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import { embedWords, serveSteps } from '../engine/served-arm.fixture.ts';
import { createArmSource } from './arm-source.ts';
import { assemble } from './assemble.ts';

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
  const admits = ({ id }: { readonly id: string }) => id !== 'b';
  const source = createArmSource(memory, { admits, question: { author: 'ana' } });
  const [found] = (await source({
    query: 'salt',
    k: 1,
    session: null,
    now: 3 * HOUR,
    signal: new AbortController().signal,
  })) as never[];
  expect(found).toMatchObject({ id: 'a', parts: { bm25: expect.any(Number) } });
  expect(source.readVersion?.()).toBe(3);
  await memory.close();
});
