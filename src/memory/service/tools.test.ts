import { beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { parse } from '../../core/validation/validation.ts';
import { NOON, openTools } from './tools.fixture.ts';
import { MEMORY_TOOLS, type ToolSetting } from './tools.ts';

beforeAll(() => useBackend('wasm'));

async function call(setting: ToolSetting, name: string, input: object): Promise<Record<string, unknown>> {
  const tool = MEMORY_TOOLS.find((other) => other.name === name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return (await tool.run(parse(tool.input, input, name), setting)) as Record<string, unknown>;
}

const listRecalled = async (setting: ToolSetting, question: string, more: object = {}) =>
  ((await call(setting, 'recall', { question, ...more })).records as readonly { readonly id: string }[]).map(
    ({ id }) => id,
  );

test('what is remembered is recalled, best first, with its time, its score and the parts of it', async () => {
  const setting = await openTools();
  const salt = {
    text: 'the soup needs salt',
    id: 'a',
    conversation: 'kitchen',
    author: 'bo',
    time: '1970-01-02T00:00:00Z',
  };
  expect(await call(setting, 'remember', { ...salt, type: 'episodic', attributes: { mood: 'calm' } })).toEqual({
    id: 'a',
    sequence: 1,
  });
  await call(setting, 'remember', { text: 'salt salt salt', id: 'b' });
  expect(setting.memory.get('a')).toMatchObject({
    ...{ createdAt: 86_400_000, conversationId: 'kitchen', author: 'bo' },
    metadata: { memoryType: 'episodic', mood: 'calm' },
  });
  expect(setting.memory.get('b')?.createdAt).toBe(NOON);
  const { records, withheld, sequence } = await call(setting, 'recall', { question: 'Where is salt?' });
  expect([withheld, sequence]).toEqual([0, 2]);
  expect(records).toMatchObject([
    { id: 'b', text: 'salt salt salt', time: '2026-03-01T12:00:00.000Z', conversation: 'b' },
    { id: 'a', text: 'bo: the soup needs salt', conversation: 'kitchen', parts: { bm25: expect.any(Number) } },
  ]);
  expect(await listRecalled(setting, 'salt', { k: 1 })).toEqual(['b']);
  expect(await listRecalled(setting, 'salt', { conversation: 'kitchen' })).toEqual(['a']);
  expect(await listRecalled(setting, 'salt', { asOf: '2026-03-01T12:00:00Z' })).toEqual(['a']);
  await setting.memory.close();
});

test('a text without an id gets one of its content, another at each time', async () => {
  const setting = await openTools();
  const { id } = await call(setting, 'remember', { text: 'salt' });
  expect(id).toMatch(/^[0-9a-f]{16}$/);
  await expect(call(setting, 'remember', { text: 'salt' })).rejects.toThrow(`already has the record: ${id}`);
  const later = { ...setting, clock: () => NOON + 1 };
  expect((await call(later, 'remember', { text: 'salt' })).id).not.toBe(id);
  await setting.memory.close();
});

test('a context is within its budget, names its records and withholds sensitive ones', async () => {
  const setting = await openTools();
  await call(setting, 'remember', { text: 'the soup needs salt', id: 'a' });
  await call(setting, 'remember', { text: 'the secret of the soup', id: 'b', sensitive: true });
  const { context, ids, tokens, budget } = await call(setting, 'assemble', { prompt: 'What does the soup need?' });
  expect([ids, budget]).toEqual([['a'], 2000]);
  expect(tokens).toBeLessThan(20);
  expect(context).toContain('the soup needs salt');
  expect(context).not.toContain('secret');
  expect((await call(setting, 'recall', { question: 'soup' })).withheld).toBe(1);
  expect((await call(setting, 'assemble', { prompt: 'soup', budget: 1 })).ids).toEqual([]);
  expect((await call(setting, 'assemble', { prompt: 'soup', cite: true })).context).toContain('a');
  await setting.memory.close();
});

test('an outcome of a record counts', async () => {
  const setting = await openTools();
  await call(setting, 'remember', { text: 'salt', id: 'a' });
  await call(setting, 'record_outcome', { id: 'a', value: 1 });
  expect(await call(setting, 'record_outcome', { id: 'a', value: 0 })).toEqual({
    ...{ id: 'a', count: 2, mean: 0.5, sequence: 3 },
  });
  await setting.memory.close();
});

test('what is forgotten is recalled no more; a dry run changes nothing', async () => {
  const setting = await openTools();
  for (const [id, more] of [
    ['a', { conversation: 'kitchen' }],
    ['b', { conversation: 'kitchen' }],
    ['c', { author: 'bo' }],
    ['d', {}],
  ] as const)
    await call(setting, 'remember', { text: `salt ${id}`, id, ...more });
  expect(await call(setting, 'forget', { conversation: 'kitchen', dryRun: true })).toEqual({
    ...{ removed: ['a', 'b'], derived: [], kept: 2, done: false },
  });
  expect(setting.memory.size).toBe(4);
  await call(setting, 'forget', { conversation: 'kitchen' });
  await call(setting, 'forget', { user: 'bo' });
  expect(await listRecalled(setting, 'salt')).toEqual(['d']);
  expect(await call(setting, 'forget', { id: 'd' })).toEqual({ removed: ['d'], derived: [], kept: 0, done: true });
  expect(() => parse(MEMORY_TOOLS[4]!.input, { id: 'a', user: 'bo' }, 'forget')).toThrow(
    'one of id, conversation and user',
  );
  await setting.memory.close();
});
