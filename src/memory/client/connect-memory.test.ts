import { createServer } from 'node:net';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { useBackend } from '../../core/tensors/backend.ts';
import { embedWords } from '../engine/served-arm.fixture.ts';
import { createMemoryService } from '../service/memory-service.ts';
import { openTools } from '../service/tools.fixture.ts';
import { type ConnectionInput, connectMemory } from './connect-memory.ts';

beforeAll(() => useBackend('wasm'));

const HOUR = 3_600_000;
const SALT = { id: 'a/1 é', context: 'the soup needs salt', createdAt: HOUR, conversationId: 'kitchen' };

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

async function connect(input: ConnectionInput = {}, token: string | null = null) {
  const setting = await openTools();
  const service = createMemoryService(setting, { token, mcp: null });
  const client = connectMemory(`${await service.app.listen({ host: '127.0.0.1', port: 0 })}/`, input);
  ended.push(async () => {
    client.close();
    await service.close();
    await setting.memory.close();
  });
  return { ...setting, service, client };
}

test('a client answers as the memory does, with the same scores', async () => {
  const { memory, client } = await connect();
  expect(await client.add(SALT)).toEqual({ ids: [SALT.id], known: [], ...memory.position });
  const embedding = embedWords('salt');
  await client.addBatch([SALT, { ...SALT, id: 'b', context: 'salt salt', embedding }]);
  expect(memory.get('b')?.embedding).toEqual(embedding);
  const question = { text: 'salt', asOf: 2 * HOUR, author: 'bo' };
  expect(await client.ask(question)).toEqual(JSON.parse(JSON.stringify(await memory.ask(question))));
  expect(await client.updateStats(SALT.id, 1)).toMatchObject({ count: 1, mean: 1 });
  expect((await client.assemble('salt', { budget: 1000 })).ids).toEqual(['b', SALT.id]);
  expect((await client.upsert([{ ...SALT, context: 'the soup is done' }])).known).toEqual([]);
  expect(memory.get(SALT.id)?.context).toBe('the soup is done');
  expect([await client.remove(SALT.id), await client.remove(SALT.id)]).toEqual([true, false]);
});

test('an error has the code and the message of the memory', async () => {
  const { client } = await connect();
  await expect(client.updateStats('x', 1)).rejects.toMatchObject({
    ...{ code: 'RECORD_NOT_FOUND', message: expect.stringContaining('has no record: x'), facts: { status: 404 } },
  });
  await client.add(SALT);
  await expect(client.add({ ...SALT, context: 'other' })).rejects.toMatchObject({ code: 'DUPLICATE_RECORD' });
});

test('a token is sent with each request', async () => {
  const { client } = await connect({ token: 'open sesame' }, 'open sesame');
  expect((await client.add(SALT)).sequence).toBe(1);
  const { client: other } = await connect({ token: 'open' }, 'open sesame');
  await expect(other.add(SALT)).rejects.toMatchObject({ code: 'MEMORY_TOKEN', facts: { status: 401 } });
});

test('a service that is not there, or does not answer, is not available', async () => {
  const { client, service } = await connect();
  await service.close();
  await expect(client.ask({ text: 'salt' })).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const { port } = silent.address() as { readonly port: number };
  const late = connectMemory(`http://127.0.0.1:${port}`, { timeoutSeconds: 0.05 });
  await expect(late.ask({ text: 'salt' })).rejects.toThrow('no answer within 0.05 s');
  late.close();
  silent.close();
});

test('what is sensitive is sent to this machine alone', async () => {
  const { client, memory } = await connect();
  const secret = { ...SALT, metadata: { sensitive: true } };
  await client.add(secret);
  expect(memory.size).toBe(1);
  const far = connectMemory('http://memory.example');
  await expect(far.add(secret)).rejects.toMatchObject({ code: 'SENSITIVE_TEXT' });
  const question = { text: 'salt', attributes: { sensitive: true } };
  await expect(far.ask(question)).rejects.toMatchObject({ code: 'SENSITIVE_TEXT' });
  far.close();
});

test.each(['ftp://memory', 'memory'])('an address is http: %s', (address) => {
  expect(() => connectMemory(address)).toThrow('an address such as http://127.0.0.1:8080');
});
