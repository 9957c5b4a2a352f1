import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigurationError, SensitiveTextError, UnavailableError } from '../../core/errors/errors.ts';
import { type Answer, EmbeddingService } from '../../core/service/embedding-service.harness.ts';
import { memoryRecordSchema } from '../../model/turns/turn.ts';
import type { Memory } from '../engine/memory.ts';
import { openMemory } from '../engine/open-memory.ts';
import { type Curator, openCurator } from './curator.ts';
import { createEndpointDecider } from './endpoint-decider.ts';

const root = mkdtempSync(join(tmpdir(), 'ragpp-curation-endpoint-'));
const service = EmbeddingService.useInTests();
afterAll(() => rmSync(root, { recursive: true }));

const createRecord = (id: string, context: string, metadata = {}) => ({
  ...{ id, context, metadata },
  embedding: Float32Array.of(1, 0),
  createdAt: 0,
});
const say = (content: string): Answer => ({
  status: 200,
  body: { choices: [{ message: { content } }], usage: { total_tokens: 7 } },
});
const choose = (operation: string, number: number | null) =>
  say(JSON.stringify({ operation, number, reason: `because ${operation}` }));
const createDecider = () =>
  createEndpointDecider({ baseUrl: service.baseUrl, model: 'm', pauseSeconds: 0, maxAttempts: 2 });
const readSent = () => service.received.map(({ body }) => JSON.parse(body.messages?.[1]?.content as string));

let folders = 0;
async function withCurator(work: (curator: Curator, memory: Memory) => Promise<void>): Promise<string> {
  const { decide, describeUse } = createDecider();
  const memory = await openMemory({ dimension: 2 });
  const curator = await openCurator(memory, join(root, `${folders++}`), {}, { fsync: 'never', decide });
  await work(curator, memory);
  await curator.close();
  await memory.close();
  return describeUse();
}

test('a service chooses the operation and the record, and undoing takes it back', async () => {
  const answers = [choose('add', null), choose('delete', 2), choose('update', 1), choose('noop', 1)];
  service.answer = (_, count) => answers[count - 1] as Answer;
  const use = await withCurator(async (curator, memory) => {
    const made = [];
    for (const id of ['a', 'b', 'c', 'd', 'e']) made.push(await curator.curate(createRecord(id, `text of ${id}`)));
    expect(made.map(({ operation, reason }) => `${operation}: ${reason}`)).toEqual([
      'add: no neighbour',
      'add: because add',
      'delete: because delete',
      'update: because update',
      'noop: because noop',
    ]);
    const [, second] = readSent();
    expect(second.new).toBe('text of c');
    const superseded = (second.earlier[1].text as string).at(-1) as string;
    expect(memory.get(superseded)?.metadata).toMatchObject({ status: 'superseded', supersededBy: 'c' });
    await curator.undo('all');
    expect(memory.size).toBe(0);
  });
  expect(use).toBe('4 requests, 28 tokens');
  expect(JSON.stringify(service.received)).not.toMatch(/createdAt|embedding/);
});

test.each([
  ['words', 'no JSON'],
  ['an operation that does not exist', '{"operation": "merge", "number": 1, "reason": "r"}'],
  ['no reason', '{"operation": "noop", "number": 1}'],
  ['a record that was not sent', '{"operation": "noop", "number": 2, "reason": "r"}'],
])('an answer with %s is asked for again, then an error, and nothing is changed', async (_, content) => {
  service.answer = () => say(content);
  await withCurator(async (curator, memory) => {
    await curator.curate(createRecord('a', 'one'));
    await expect(curator.curate(createRecord('b', 'two'))).rejects.toThrow(UnavailableError);
    expect([service.received.length, memory.size, curator.entries().length]).toEqual([2, 1, 1]);
    service.answer = () => say('Here: ```{"operation": "noop", "number": 1, "reason": "the same"}```');
    expect(await curator.curate(createRecord('b', 'two'))).toMatchObject({ operation: 'noop', target: 'a' });
  });
});

test('no sensitive text is sent, whether the curator or the decider gets it', async () => {
  service.answer = () => choose('noop', 1);
  await withCurator(async (curator) => {
    await curator.curate(createRecord('secret', 'xq-4711', { sensitive: true }));
    await curator.curate(createRecord('a', 'one'));
    await curator.curate(createRecord('b', 'two'));
    await curator.curate(createRecord('other', 'xq-4711', { sensitive: true }));
  });
  const read = (id: string, text: string, sensitive: boolean) =>
    memoryRecordSchema.parse(createRecord(id, text, { sensitive }));
  const { decide } = createDecider();
  const neighbours = [
    { record: read('s', 'xq-4711', true), cosine: 1 },
    { record: read('a', 'one', false), cosine: 1 },
  ];
  expect(await decide(read('b', 'two', false), neighbours)).toMatchObject({ target: { id: 'a' } });
  await expect(decide(read('s', 'xq-4711', true), neighbours)).rejects.toThrow(SensitiveTextError);
  expect(readSent()).toEqual(Array(2).fill({ new: 'two', earlier: [{ number: 1, text: 'one' }] }));
  expect(JSON.stringify(service.received)).not.toContain('4711');
});

test('options that do not exist are refused', () => {
  expect(() => createEndpointDecider({ baseUrl: 'nowhere', model: 'm' })).toThrow(ConfigurationError);
});
