import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { UnavailableError } from '../../core/errors/errors.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createMemoryService, type MemoryServiceOptions } from './memory-service.ts';
import { ROUTES } from './routes.ts';
import { openTools } from './tools.fixture.ts';

beforeAll(() => useBackend('wasm'));

const HOUR = 3_600_000;
const salt = { id: 'a', context: 'the soup needs salt', createdAt: HOUR, conversationId: 'kitchen' };
const turn = {
  id: 'b',
  conversationId: 'kitchen',
  parentId: 'a',
  timestamp: '1970-01-01T02:00:00Z',
  text: 'salt salt',
};

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0)) await end();
});

async function open(options: Partial<MemoryServiceOptions> = {}) {
  const setting = await openTools();
  const faults: unknown[] = [];
  const own = { token: null, mcp: null, onError: (error: unknown) => faults.push(error), ...options };
  const service = createMemoryService(setting, own);
  ended.push(async () => {
    await service.close(0);
    await setting.memory.close();
    expect(faults.splice(0)).toEqual([]);
  });
  const send = async (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object, headers = {}) => {
    const reply = await service.app.inject({ method, url, headers, ...(payload && { payload }) });
    return { status: reply.statusCode, body: reply.json() as Record<string, unknown> };
  };
  return { ...setting, faults, service, send, post: (url: string, body: object) => send('POST', url, body) };
}

describe('rows', () => {
  test('are records and turns, and are answered with their ids and the change', async () => {
    const { memory, post } = await open();
    expect(await post('/v1/records', salt)).toEqual({
      ...{ status: 200, body: { ids: ['a'], known: [], ...memory.position } },
    });
    expect((await post('/v1/records/bulk', { rows: [turn] })).body).toMatchObject({ ids: ['b'], sequence: 2 });
    expect(memory.get('b')).toMatchObject({ context: 'salt salt', createdAt: 2 * HOUR, parentId: 'a' });
  });

  test('that are sent again change nothing; other content of an id is refused with the whole request', async () => {
    const { memory, post } = await open();
    await post('/v1/records', salt);
    await memory.updateStats('a', 1); // what was observed since is no other content
    expect((await post('/v1/records/bulk', { rows: [salt, turn] })).body).toMatchObject({
      ...{ ids: ['a', 'b'], known: ['a'], sequence: 3 },
    });
    const other = { ...salt, context: 'the soup needs pepper' };
    const refused = await post('/v1/records/bulk', { rows: [{ ...turn, id: 'c' }, other] });
    expect(refused).toMatchObject({ status: 409, body: { code: 'DUPLICATE_RECORD', reason: 'duplicate_record' } });
    expect([memory.size, memory.sequence]).toEqual([2, 3]);
    expect((await post('/v1/records/bulk', { rows: [other], replace: true })).status).toBe(200);
    expect(memory.get('a')?.context).toBe('the soup needs pepper');
  });

  test.each([
    ['a record without a text', { id: 'x', createdAt: 1 }, 'context: expected string, got nothing'],
    ['a turn with an unknown key', { ...turn, txt: 'x' }, 'unknown key "txt"'],
    ['a vector that is none', { ...salt, embedding: ['1'] }, 'embedding: expected a list of numbers'],
    ['a vector of another length', { ...salt, embedding: [1, 2] }, 'expected 16, got 2'],
  ])('are refused: %s', async (_, row, message) => {
    const { memory, post } = await open();
    const { status, body } = await post('/v1/records', row);
    expect([status, body.message]).toEqual([400, expect.stringContaining(message)]);
    expect(memory.size).toBe(0);
  });

  test('are shown without their vectors, and of a sensitive one no text', async () => {
    const { post, send } = await open();
    await post('/v1/records/bulk', {
      rows: [
        salt,
        { ...salt, id: 's', context: 'the code of the safe', metadata: { sensitive: true, room: 'cellar' } },
      ],
    });
    const { body } = await send('GET', '/v1/records/a');
    expect(body).toMatchObject({ id: 'a', context: 'the soup needs salt', withheld: false });
    expect(body).not.toHaveProperty('embedding');
    const secret = await send('GET', '/v1/records/s');
    expect(secret.body).toMatchObject({ id: 's', context: null, metadata: {}, withheld: true });
    expect(JSON.stringify(secret.body)).not.toMatch(/safe|cellar/);
    expect((await send('GET', '/v1/records/x')).status).toBe(404);
    expect((await send('DELETE', '/v1/records/a')).body).toMatchObject({ removed: true, sequence: 2 });
    expect((await send('DELETE', '/v1/records/a')).body).toMatchObject({ removed: false });
  });
});

describe('answers', () => {
  test('are those of the memory: ranking, parts, prior, place, context', async () => {
    const { memory, post, send } = await open();
    await post('/v1/records/bulk', { rows: [salt, turn] });
    await post('/v1/records/a/outcome', { value: 1 });
    const question = { text: 'Where is salt?', asOf: 5 * HOUR };
    const asked = await post('/v1/ask', question);
    expect(asked).toEqual({ status: 200, body: JSON.parse(JSON.stringify(await memory.ask(question))) });
    expect(asked.body).toMatchObject({ ranking: [{ id: 'b' }, { id: 'a' }], prior: { count: 1, mean: 1 } });
    const place = await post('/v1/explain', { ...question, recordId: 'a' });
    expect(place.body).toMatchObject({ rank: 2, of: 2, parts: { bm25: expect.any(Number) } });
    expect((await post('/v1/explain', { ...question, asOf: HOUR, recordId: 'a' })).body).toMatchObject({ rank: null });
    expect((await post('/v1/priors', { ids: ['a', 'b'] })).body).toMatchObject({ count: 1, mean: 1 });
    const { body } = await post('/v1/assemble', { prompt: 'Where is salt?' });
    expect(body).toMatchObject({ ids: ['b', 'a'], context: expect.stringContaining('the soup needs salt') });
    expect((await send('GET', '/v1/stats')).body).toMatchObject({ size: 2, dimension: 16, sequence: 2 });
    expect((await send('GET', '/v1/health')).body).toEqual({ status: 'ok', sequence: 2 });
    expect((await post('/v1/forget', { conversation: 'kitchen' })).body).toMatchObject({
      removed: ['a', 'b'],
      done: true,
    });
    expect((await post('/v1/ask', question)).body.ranking).toEqual([]);
  });

  test.each([
    ['/v1/ask', { txt: 'salt' }, 400, 'did you mean text?'],
    ['/v1/ask', { text: ' ' }, 400, 'a question with at least one letter'],
    ['/v1/query', { embedding: [1] }, 400, 'expected 16, got 1'],
    ['/v1/records/x/outcome', { value: 1 }, 404, 'has no record: x'],
    ['/v1/priors', { ids: ['x'] }, 404, 'has no record: x'],
    ['/v1/nothing', {}, 404, 'use a path of GET /v1/openapi.json'],
  ])('of %s to %j are refused', async (url, body, status, message) => {
    const { post } = await open();
    const answer = await post(url, body);
    expect(answer).toMatchObject({ status, body: { message: expect.stringContaining(message) } });
  });

  test('of a memory that is not available say when to ask again', async () => {
    const { memory, service } = await open();
    memory.ask = () => Promise.reject(new UnavailableError('encoder', 'it does not answer; start it'));
    const reply = await service.app.inject({ method: 'POST', url: '/v1/ask', payload: { text: 'salt' } });
    expect([reply.statusCode, reply.headers['retry-after']]).toEqual([503, '1']);
    expect(reply.json()).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('start it') });
  });

  test('to a bug keep it from the client', async () => {
    const { memory, faults, post } = await open();
    memory.ask = () => Promise.reject(new TypeError('holds a secret'));
    expect(await post('/v1/ask', { text: 'salt' })).toEqual({
      status: 500,
      body: { code: 'MEMORY_INTERNAL', reason: 'internal', message: 'memory failed; read its log' },
    });
    expect(faults.splice(0)).toMatchObject([{ message: 'holds a secret' }]);
  });
});

test('with a token every path but health needs it', async () => {
  const { send } = await open({ token: 'open sesame' });
  expect((await send('GET', '/v1/health')).status).toBe(200);
  expect((await send('GET', '/v1/stats')).body).toMatchObject({ code: 'MEMORY_TOKEN' });
  expect((await send('GET', '/v1/stats', undefined, { authorization: 'Bearer open' })).status).toBe(401);
  expect((await send('GET', '/v1/stats', undefined, { authorization: 'Bearer open sesame' })).status).toBe(200);
});

test('the description has every path with the schema of its body and its answer', async () => {
  const { send } = await open();
  const { body } = await send('GET', '/v1/openapi.json');
  const paths = body.paths as Record<string, Record<string, { readonly requestBody?: object }>>;
  for (const { method, path, body: schema } of ROUTES) {
    const described = paths[path.replace(':id', '{id}')]?.[method.toLowerCase()];
    expect([path, described?.requestBody !== undefined]).toEqual([path, schema !== null]);
  }
  expect(JSON.stringify(paths['/v1/ask'])).toContain('"asOf":{"type":"number"}');
});

test('counters are those of Prometheus, and have no id', async () => {
  const { service, post } = await open();
  await post('/v1/records', salt);
  await post('/v1/records/x/outcome', { value: 1 });
  const { body } = await service.app.inject('/metrics');
  expect(body).toContain('ragpp_memory_requests_total{path="/v1/records",status="200"} 1');
  expect(body).toContain('ragpp_memory_refusals_total{reason="record_not_found"} 1');
  expect(body).toContain('ragpp_memory_changes_total 1');
  expect(body).not.toContain('/x/');
});

test('changes are events, and a stream ends with the service', async () => {
  const { service, post } = await open();
  const address = await service.app.listen({ host: '127.0.0.1', port: 0 });
  const answer = await fetch(`${address}/v1/events`);
  const text = answer.text();
  await post('/v1/records', salt);
  await service.close();
  const events = (await text).split('\n\n').filter((event) => event.startsWith('event'));
  expect(events).toEqual([
    `event: open\ndata: {"sequence":0,"hash":"${'0'.repeat(32)}"}`,
    'event: change\ndata: {"sequence":1,"count":1,"ids":["a"]}',
    'event: end\ndata: {"reason":"the memory is closing"}',
  ]);
});
