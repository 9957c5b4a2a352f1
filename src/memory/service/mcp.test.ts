import { beforeAll, expect, test } from 'vitest';
import { requirePackages } from '../../core/required-packages.harness.ts';
import { useBackend } from '../../core/tensors/backend.ts';
import { createMcpEndpoint } from './mcp.ts';
import type { McpClient } from './mcp-client.harness.ts';
import { createMemoryService } from './memory-service.ts';
import { openTools } from './tools.fixture.ts';

beforeAll(() => useBackend('wasm'));

/** A client of the official package, whose requests reach the endpoint without a socket. */
async function connect(send: (request: Request) => Promise<Response>): Promise<McpClient> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client' as string);
  const client = new Client({ name: 'test', version: '1' }) as McpClient;
  const fetch = (url: URL, init: RequestInit) => send(new Request(url, init));
  await client.connect(new StreamableHTTPClientTransport(new URL('http://127.0.0.1/mcp'), { fetch }));
  return client;
}

requirePackages('MCP').describe('the tools over the Model Context Protocol', () => {
  const faults: Error[] = [];

  test('are listed with their schemas, and whether they change something', async () => {
    const setting = await openTools();
    const endpoint = await createMcpEndpoint(setting, (error) => void faults.push(error));
    const client = await connect((request) => endpoint.fetch(request));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(['remember', 'recall', 'assemble', 'record_outcome', 'forget']);
    const [remember, recall, , , forget] = tools;
    expect(remember?.inputSchema.required).toEqual(['text']);
    expect(Object.keys(recall?.inputSchema.properties ?? {})).toEqual(['question', 'k', 'conversation', 'asOf']);
    expect(recall?.annotations).toMatchObject({ readOnlyHint: true });
    expect(forget?.annotations).toMatchObject({ destructiveHint: true });
    await client.close();
    await endpoint.close();
    await setting.memory.close();
  });

  test('work on one memory, and an error says what to do', async () => {
    const setting = await openTools();
    const endpoint = await createMcpEndpoint(setting, (error) => void faults.push(error));
    const client = await connect((request) => endpoint.fetch(request));
    const call = (name: string, input: object) => client.callTool({ name, arguments: input });
    expect((await call('remember', { text: 'the soup needs salt', id: 'a' })).structuredContent).toEqual({
      ...{ id: 'a', sequence: 1 },
    });
    const { content } = await call('assemble', { prompt: 'What does the soup need?' });
    expect(JSON.parse(content[0].text)).toMatchObject({ ids: ['a'], budget: 2000 });
    const unknown = await call('record_outcome', { id: 'b', value: 1 });
    expect(unknown.isError).toBe(true);
    expect(unknown.content[0].text).toMatch(/^\[RECORD_NOT_FOUND\] .*b/);
    expect((await call('recall', { question: 'soup', k: 0 })).isError).toBe(true);
    expect((await call('forget', { id: 'a', user: 'bo' })).isError).toBe(true);
    expect(setting.memory.size).toBe(1);
    expect(faults).toEqual([]);
    await client.close();
    await endpoint.close();
    await setting.memory.close();
  });

  test('are at /mcp of the service of a memory, for who has its token', async () => {
    const setting = await openTools();
    const mcp = await createMcpEndpoint(setting, (error) => void faults.push(error));
    const service = createMemoryService(setting, { token: 'open sesame', mcp });
    const address = await service.app.listen({ host: '127.0.0.1', port: 0 });
    const sendTo = (token: string) => async (request: Request) => {
      const headers = new Headers(request.headers);
      headers.set('authorization', `Bearer ${token}`);
      const body = request.method === 'POST' ? { body: await request.text() } : {};
      return fetch(`${address}/mcp`, { method: request.method, headers, ...body });
    };
    await expect(connect(sendTo('open'))).rejects.toThrow();
    const client = await connect(sendTo('open sesame'));
    const remembered = { name: 'remember', arguments: { text: 'the soup needs salt', id: 'a' } };
    expect((await client.callTool(remembered)).structuredContent).toEqual({ id: 'a', sequence: 1 });
    expect([setting.memory.size, faults]).toEqual([1, []]);
    await client.close();
    await service.close();
    await mcp.close();
    await setting.memory.close();
  });

  test('a bug is reported to the service alone', async () => {
    const setting = await openTools();
    const endpoint = await createMcpEndpoint(setting, (error) => void faults.push(error));
    const client = await connect((request) => endpoint.fetch(request));
    setting.memory.ask = () => Promise.reject(new TypeError('holds a secret'));
    const answer = await client.callTool({ name: 'recall', arguments: { question: 'soup' } });
    expect([answer.isError, answer.content[0].text]).toEqual([true, 'unexpected error; the log of the service has it']);
    expect(faults.splice(0).map(({ message }) => message)).toEqual(['holds a secret']);
    await client.close();
    await endpoint.close();
    await setting.memory.close();
  });
});
