import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { HttpService } from '../../core/service/http-service.ts';
import { Corpus } from '../../model/turns/corpus.ts';
import { Kernel, type KernelOptions } from '../authority/kernel.ts';
import { buildPolicy, drawCorpus, makeKeys } from '../policies/slices.fixture.ts';
import { rotateKeys } from '../signatures/kernel-keys.ts';
import { createKernelService, type KernelServiceOptions } from './kernel-service.ts';

const corpus = drawCorpus(60);
const anchorTurnId = corpus.turns[30]!.id;
const asOf = corpus.turns[50]!.timestamp;
const policies = [buildPolicy()];
const keys = rotateKeys(makeKeys());

const services: HttpService[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) await service.close(1);
});

function open(kernelOptions: Partial<KernelOptions> = {}, options: KernelServiceOptions = {}) {
  const kernel = new Kernel({ corpus, policies, keys, allowAsOf: true, ...kernelOptions });
  const service = createKernelService(kernel, options);
  services.push(service);
  const post = async (url: string, payload: object | string, headers: Record<string, string> = {}) => {
    const type = { 'content-type': 'application/json' };
    const reply = await service.app.inject({ method: 'POST', url, payload, headers: { ...type, ...headers } });
    return { status: reply.statusCode, body: reply.json(), text: reply.body };
  };
  const ask = (changes: object = {}) =>
    post('/slice', { policyRef: kernel.policyRefs[0], scope: { anchorTurnId }, asOf, ...changes });
  return { kernel, service, post, ask };
}

const refusal = (reason: string, message: unknown = expect.any(String)) => ({
  code: expect.stringMatching(/^(ADMISSIBILITY|KERNEL)_[A-Z_]+$/),
  reason,
  message,
});

test('gives the slice of the kernel, and checks slices', async () => {
  const { kernel, ask, post } = open();
  const { status, body } = await ask();
  expect(status).toBe(200);
  expect(body).toEqual(await kernel.slice({ policyRef: kernel.policyRefs[0]!, scope: { anchorTurnId }, asOf }));
  expect(await post('/slice/verify', { slice: body, at: asOf })).toMatchObject({ status: 200, body: { valid: true } });
});

test('shows public keys and facts, and no secret', async () => {
  const { kernel, service } = open();
  const get = async (url: string) => (await service.app.inject({ url })).body;
  expect(JSON.parse(await get('/keys'))).toEqual({ keys: kernel.keys });
  expect(kernel.keys.map(({ state }) => state)).toEqual(['signing', 'verifying']);
  expect(JSON.parse(await get('/health'))).toEqual({
    ...{ status: 'ok', corpusVersion: kernel.corpusVersion, policies: kernel.policyRefs, turns: 60 },
  });
  const all = (await Promise.all(['/keys', '/health', '/metrics', '/nothing'].map(get))).join();
  for (const { secret, privateKey } of keys.keys) {
    expect(all).not.toContain(secret);
    expect(all).not.toContain(privateKey.split('\n')[1]);
  }
});

describe('refuses', () => {
  test('an unknown key, at any depth, and names the nearest', async () => {
    const { ask, post } = open();
    expect(await ask({ asof: 5 })).toMatchObject({
      status: 400,
      body: refusal('body', expect.stringContaining('asof: expected one of policyRef, scope, asOf, refine')),
    });
    expect((await ask({ scope: { anchorTurnID: 't' } })).body.message).toContain('did you mean anchorTurnId?');
    const { body: slice } = await ask();
    const verified = await post('/slice/verify', { slice: { ...slice, signatur: 'x' }, at: null });
    expect(verified).toMatchObject({ status: 400, body: refusal('body') });
    expect(verified.body.message).toContain('did you mean signature?');
  });

  test.each([
    ['{"policyRef":', 'application/json', 400, 'json'],
    ['', 'application/json', 400, 'json'],
    ['{"__proto__":{"policyRef":"x"}}', 'application/json', 400, 'json'],
    ['[1]', 'application/json', 400, 'body'],
    ['null', 'application/json', 400, 'body'],
    ['{"policyRef":"\\ud800","scope":{}}', 'application/json', 404, 'unknown-policy'],
    ['policyRef=x', 'application/x-www-form-urlencoded', 415, 'content-type'],
    ['{}', 'text/plain', 415, 'content-type'],
    [`{"policyRef":"${'x'.repeat(80)}"}`, 'application/json', 413, 'body-limit'],
  ])('the body %j of %s', async (payload, type, status, reason) => {
    const { post } = open({}, { maxBodyBytes: 80 });
    const reply = await post('/slice', payload, { 'content-type': type });
    expect([reply.status, reply.body]).toEqual([status, refusal(reason)]);
  });

  test('what no signature can bind', async () => {
    const policy = buildPolicy({ unanchored: 'all' });
    const { kernel, ask } = open({ policies: [policy] });
    const reply = await ask({ policyRef: kernel.policyRefs[0], scope: { author: '\ud800' } });
    expect(reply).toMatchObject({ status: 400, body: refusal('body', expect.stringContaining('surrogate')) });
  });

  test('another path, another method', async () => {
    const { service } = open();
    const status = async (method: 'GET' | 'DELETE', url: string) =>
      (await service.app.inject({ method, url })).json().reason;
    expect(await status('GET', '/slices')).toBe('path');
    expect(await status('GET', '/slice?x=1')).toBe('method');
    expect(await status('DELETE', '/keys')).toBe('method');
  });

  test('by the reason of the kernel', async () => {
    const { ask, post, kernel } = open({ maxTurns: 5 });
    const { body: slice } = await open().ask();
    const wide = { ...slice, turnIds: slice.turnIds.slice(1) };
    expect(await ask({ policyRef: 'x@1#0' })).toMatchObject({ status: 404, body: refusal('unknown-policy') });
    expect(await ask({ scope: { anchorTurnId: 'x' } })).toMatchObject({ status: 404, body: refusal('unknown-anchor') });
    expect(await ask({ scope: {} })).toMatchObject({ status: 422, body: refusal('no-anchor') });
    expect(await ask()).toMatchObject({ status: 422, body: refusal('limit') });
    expect(await post('/slice/verify', { slice: wide, at: asOf })).toMatchObject({
      ...{ status: 403, body: refusal('fingerprint') },
    });
    expect(await post('/slice/verify', { slice })).toMatchObject({ status: 409, body: refusal('expired') });
    expect(kernel.turnCount).toBe(60);
    expect(await open({ allowAsOf: false }).ask()).toMatchObject({ status: 403, body: refusal('moment') });
  });

  test('a walk that takes too long', async () => {
    const turns = Array.from({ length: 1100 }, (_, i) => ({
      ...corpus.turns[0]!,
      ...{ id: `n${i}`, parentId: i === 0 ? null : 'n0', timestamp: i },
    }));
    const wide = buildPolicy({ maxNodes: 5000, minPriority: 0 });
    const { ask, kernel } = open({ corpus: new Corpus(turns), policies: [wide], maxWalkSeconds: 0 });
    const reply = await ask({ policyRef: kernel.policyRefs[0], scope: { anchorTurnId: 'n0' } });
    expect(reply).toMatchObject({ status: 422, body: refusal('limit', expect.stringContaining('took more than 0 s')) });
  });

  test.each([
    ['keys', `{"scope":{${Array.from({ length: 101 }, (_, i) => `"k${i}":1`).join()}}}`],
    ['levels', `{"scope":${'['.repeat(9)}${']'.repeat(9)}}`],
  ])('a body of more %s than any request has, before it is read as JSON', async (_, payload) => {
    const reply = await open().post('/slice', payload);
    expect(reply).toMatchObject({
      status: 400,
      body: refusal('body', expect.stringContaining('100 keys and 8 levels')),
    });
    const text = JSON.stringify({ policyRef: `\\"${'{:['.repeat(99)}`, scope: {} });
    expect(await open().post('/slice', text)).toMatchObject({ status: 404, body: refusal('unknown-policy') });
  });

  test('a slice whose signature was altered', async () => {
    const { ask, post } = open();
    const { body: slice } = await ask();
    const signature = slice.signature.replace(/^./, (digit: string) => (digit === '0' ? '1' : '0'));
    expect(await post('/slice/verify', { slice: { ...slice, signature }, at: asOf })).toMatchObject({
      ...{ status: 403, body: refusal('signature') },
    });
  });

  test('a bug, and keeps it to itself', async () => {
    const seen: unknown[] = [];
    const { ask, kernel } = open({}, { onError: (error) => seen.push(error) });
    kernel.slice = () => Promise.reject(new Error('secret 4711'));
    const { status, body, text } = await ask();
    expect([status, body]).toEqual([500, refusal('internal')]);
    expect(text).not.toContain('4711');
    expect(seen).toEqual([new Error('secret 4711')]);
  });
});

test('counts requests, refusals, slices and what the cache knew', async () => {
  const { service, ask } = open();
  await ask();
  await ask();
  await ask({ scope: {} });
  await service.app.inject({ url: '/a?b=c' });
  const { body, headers } = await service.app.inject({ url: '/metrics' });
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  for (const line of [
    'ragpp_kernel_requests_total{path="/slice",status="200"} 2',
    'ragpp_kernel_requests_total{path="/slice",status="422"} 1',
    'ragpp_kernel_requests_total{path="(other)",status="404"} 1',
    'ragpp_kernel_refusals_total{reason="no-anchor"} 1',
    'ragpp_kernel_refusals_total{reason="path"} 1',
    'ragpp_kernel_request_seconds_count{path="/slice"} 3',
    'ragpp_kernel_request_seconds_bucket{le="+Inf",path="/slice"} 3',
    'ragpp_kernel_slice_turns_bucket{le="10"} 0',
    'ragpp_kernel_slice_turns_bucket{le="25"} 2',
    'ragpp_kernel_slice_turns_sum 24',
    'ragpp_kernel_cache_hits_total 1',
    'ragpp_kernel_cache_misses_total 1',
  ])
    expect(body.split('\n')).toContain(line);
  // Every line is empty, a comment, or a name with labels and a number.
  expect(
    body
      .trim()
      .split('\n')
      .filter((line) => !/^(|# (HELP|TYPE) \w+ .+|\w+(\{[^}]+\})? [\d.e-]+)$/.test(line)),
  ).toEqual([]);
});

test('large bodies are read one at a time, and small ones in between', async () => {
  const { service, post } = open();
  const done: string[] = [];
  const wrong = JSON.stringify({ slice: { turnIds: Array(20_000).fill('a') } });
  const large = ['a', 'b', 'c', 'd'].map((name) => post('/slice/verify', wrong).then(() => done.push(name)));
  const small = service.app.inject({ url: '/health' }).then(() => done.push('small'));
  await Promise.all([...large, small]);
  expect(done.indexOf('small')).toBeLessThan(2);
});

test('takes other keys without an end', async () => {
  const { kernel, ask, post } = open();
  const { body: slice } = await ask();
  const [signing, verifying] = keys.keys as [(typeof keys.keys)[0], (typeof keys.keys)[0]];
  const verify = () => post('/slice/verify', { slice, at: asOf });
  kernel.useKeys(rotateKeys(keys));
  expect((await verify()).status).toBe(200);
  expect((await ask()).body.keyId).not.toBe(slice.keyId);
  expect(() => kernel.useKeys({ keys: [{ ...signing, state: 'retired' }] })).toThrow('one key signs');
  expect((await verify()).status).toBe(200);
  kernel.useKeys({
    keys: [
      { ...verifying, state: 'signing' },
      { ...signing, state: 'retired' },
    ],
  });
  expect((await verify()).body).toEqual(refusal('key-retired'));
});

describe('over sockets', () => {
  async function listen(options: KernelServiceOptions = {}) {
    const { service, kernel } = open({}, options);
    await service.app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = service.app.server.address() as { port: number };
    return { service, kernel, port };
  }
  /** @param more is written when it comes. */
  const talk = (port: number, text: string, more?: Promise<string>) => {
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(text));
    void more?.then((rest) => socket.write(rest));
    return new Promise<string>((resolve, reject) => {
      let answer = '';
      socket.setEncoding('utf8').on('data', (part: string) => (answer += part));
      socket.on('end', () => socket.end());
      socket.on('error', reject).on('close', () => resolve(answer));
    });
  };
  const head = 'POST /slice HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';

  test('a request that does not end gets 408', async () => {
    const { port } = await listen({ requestSeconds: 0.1 });
    for (const half of [`${head}Content-Length: 50\r\n\r\n{"policy`, 'POST /slice HTTP/1.1\r\nHo'])
      expect(await talk(port, half)).toMatch(/^HTTP\/1.1 408 [\s\S]*\{"code":"KERNEL_SLOW_REQUEST"/);
  });

  test('what is no HTTP gets 400, endless headers 431', async () => {
    const { port } = await listen();
    expect(await talk(port, 'hello\r\n\r\n')).toMatch(/^HTTP\/1.1 400 [\s\S]*"KERNEL_PROTOCOL"/);
    expect(await talk(port, `GET /keys HTTP/1.1\r\nX: ${'y'.repeat(20_000)}`)).toMatch(/^HTTP\/1.1 431 /);
  });

  const count = async ({ app }: HttpService) =>
    (await app.inject({ url: '/metrics' })).body
      .split('\n')
      .filter((line) => /^ragpp_kernel_(requests|refusals)_total\{(?!path="\/metrics")/.test(line));

  test.each([
    ['breaks off', 'protocol', 400, (socket: Socket) => socket.destroy()],
    ['is reset', 'protocol', 400, (socket: Socket) => socket.resetAndDestroy()],
    ['is closed for writing', 'protocol', 400, (socket: Socket) => socket.end()],
    ['is too slow', 'slow-request', 408, () => {}],
  ])('a body that %s is one refusal, and no bug', async (_, reason, status, end) => {
    const seen: unknown[] = [];
    const { port, service } = await listen({ requestSeconds: 0.3, onError: (error) => seen.push(error) });
    const arrived = new Promise((resolve) => service.app.server.once('request', resolve));
    const socket: Socket = connect(port, '127.0.0.1', () => socket.write(`${head}Content-Length: 50\r\n\r\n{"policy`));
    socket.on('error', () => {}).resume();
    const closed = new Promise((resolve) => socket.once('close', resolve));
    await arrived;
    end(socket);
    await closed;
    const expected = [
      `ragpp_kernel_requests_total{path="(unread)",status="${status}"} 1`,
      `ragpp_kernel_refusals_total{reason="${reason}"} 1`,
    ];
    await expect.poll(() => count(service), { timeout: 5000 }).toEqual(expected);
    await new Promise((resolve) => setTimeout(resolve, 50)); // a second error of the connection would follow at once
    expect(await count(service)).toEqual(expected);
    expect(seen).toEqual([]);
  });

  test.each([
    ['GET /%ff HTTP/1.1\r\nHost: localhost', 404, 'KERNEL_PATH'],
    [`GET /${'x'.repeat(500)} HTTP/1.1\r\nHost: localhost`, 404, 'KERNEL_PATH'],
    ['GET /health HTTP/1.1\r\nHost: rebound.example:8080', 421, 'KERNEL_HOST'],
    ['GET /health HTTP/1.1\r\nHost: localhost.rebound.example', 421, 'KERNEL_HOST'],
    ['GET /health HTTP/1.1\r\nX: 1', 421, 'KERNEL_HOST'],
  ])('%j has the body of a refusal', async (text, status, code) => {
    const { port, service } = await listen();
    const answer = await talk(port, `${text}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} [\\s\\S]*\\{"code":"${code}"`));
    expect(await count(service)).toHaveLength(2);
  });

  test.each([['localhost:80'], ['127.0.0.9'], ['[::1]:80'], ['kernel.example', 'Kernel.example']])(
    'the host %s is this kernel',
    async (host, ...hosts) => {
      const { port } = await listen(hosts.length > 0 ? { hosts } : {});
      const request = `GET /health HTTP/1.1\r\nHost: ${host}\r\nExpect: anything\r\nConnection: close\r\n\r\n`;
      expect(await talk(port, request)).toMatch(/^HTTP\/1.1 200 /);
    },
  );

  test('closing finishes what is open, refuses what is new, and waits for no silent connection', async () => {
    const { port, service, kernel } = await listen();
    const silent = talk(port, '');
    let write = (_rest: string) => {};
    const rest = new Promise<string>((resolve) => {
      write = resolve;
    });
    const late = talk(port, 'GET /keys HTTP/1.1\r\n', rest);
    let release = () => {};
    const { slice } = kernel;
    const asked = new Promise<void>((resolve) => {
      kernel.slice = async (input) => {
        resolve();
        await new Promise<void>((go) => {
          release = go;
        });
        return slice.call(kernel, input);
      };
    });
    const body = JSON.stringify({ policyRef: kernel.policyRefs[0], scope: { anchorTurnId }, asOf });
    const request = `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
    const answer = talk(port, request);
    await asked;
    const closed = service.close(20);
    await expect(talk(port, '')).rejects.toThrow('ECONNREFUSED');
    write('Host: localhost\r\n\r\n');
    expect(await late).toMatch(/^HTTP\/1.1 503 [\s\S]*"KERNEL_CLOSING"/);
    release();
    expect(await answer).toMatch(/^HTTP\/1.1 200 OK[\s\S]*connection: close[\s\S]*"turnIds":\[/i);
    await closed;
    expect(await silent).toBe('');
  });
});
