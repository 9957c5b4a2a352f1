import { createServer, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { ConfigurationError } from '../core/errors/errors.ts';
import { createHttpAuthority, type HttpAuthority, type HttpAuthorityInput } from '../kernel/client/http-authority.ts';
import { AdmissibilityError } from '../kernel/signatures/admissibility-error.ts';
import type { SliceExport } from '../kernel/signatures/slice-export.ts';
import { type KernelProcess, startKernel } from './kernel-process.harness.ts';

const opened: HttpAuthority[] = [];
function open(baseUrl: string, options: Partial<HttpAuthorityInput> = {}): HttpAuthority {
  const authority = createHttpAuthority({ baseUrl, pauseSeconds: 0.01, ...options });
  opened.push(authority);
  return authority;
}
afterEach(() => {
  for (const authority of opened.splice(0)) authority.close();
});

const failure = (reason: string, message: unknown = expect.stringContaining('; ')) =>
  expect.objectContaining({ constructor: AdmissibilityError, reason, message });

describe('of a kernel in another process', () => {
  let kernel: KernelProcess;
  let slice: SliceExport;
  beforeAll(async () => {
    kernel = await startKernel('--as-of');
    slice = await open(kernel.baseUrl, { timeoutSeconds: 20 }).slice({ policyRef: kernel.policyRef, scope: {} });
  });
  afterAll(() => kernel.dispose());
  const ask = (authority: HttpAuthority, signal?: AbortSignal) =>
    authority.slice({ policyRef: kernel.policyRef, scope: {} }, signal);

  test('a refusal has the reason of the kernel', async () => {
    const authority = open(`${kernel.baseUrl}/`, { timeoutSeconds: 20 });
    await authority.verify(slice, slice.issuedAt);
    await expect(authority.verify(slice, slice.expiresAt)).rejects.toEqual(failure('expired'));
    const altered = { ...slice, admissibilityToken: '0'.repeat(64) };
    await expect(authority.verify(altered, slice.issuedAt)).rejects.toEqual(failure('signature'));
    await expect(authority.slice({ policyRef: 'x@1#0', scope: {} })).rejects.toEqual(failure('unknown-policy'));
    await expect(authority.slice({ policyRef: kernel.policyRef, scope: {}, asof: 1 } as never)).rejects.toEqual(
      failure('kernel-refused', expect.stringContaining('did you mean asOf?')),
    );
    await expect(open(`${kernel.baseUrl}/nothing`).slice({ policyRef: 'x', scope: {} })).rejects.toEqual(
      failure('kernel-refused', expect.stringContaining('status 404')),
    );
  });

  test('a frozen kernel is an error within the timeout, and answers once it goes on', async () => {
    const authority = open(kernel.baseUrl, { timeoutSeconds: 0.3 });
    kernel.kill('SIGSTOP');
    await expect(ask(authority)).rejects.toEqual(failure('kernel-timeout'));
    await expect(ask(authority, AbortSignal.timeout(20))).rejects.toMatchObject({ name: 'TimeoutError' });
    const stop = new AbortController();
    const stopped = ask(authority, stop.signal);
    stop.abort(new Error('no more'));
    await expect(stopped).rejects.toThrow('no more');
    kernel.kill('SIGCONT');
    expect((await ask(open(kernel.baseUrl, { timeoutSeconds: 20 }))).turnIds).toEqual(slice.turnIds);
  });

  test('a killed kernel is an error, also for a question that is open', async () => {
    const authority = open(kernel.baseUrl, { timeoutSeconds: 20 });
    await ask(authority);
    kernel.kill('SIGSTOP');
    const pending = [ask(authority), ask(authority)];
    await new Promise((resolve) => setTimeout(resolve, 50));
    kernel.kill('SIGKILL');
    for (const result of await Promise.allSettled(pending))
      expect(result).toEqual({ status: 'rejected', reason: failure('kernel-unreachable') });
    await kernel.ended;
    await expect(ask(authority)).rejects.toEqual(failure('kernel-unreachable', expect.stringContaining('3 attempts')));
  });
});

describe('of something else', () => {
  let answer: (socket: Socket, attempt: number) => void;
  let attempts = 0;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', () => answer(socket, ++attempts));
  });
  let baseUrl = '';
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  });
  afterEach(() => {
    for (const socket of sockets) socket.destroy();
    attempts = 0;
  });
  afterAll(() => void server.close());

  const ask = (options: Partial<HttpAuthorityInput> = {}) =>
    open(baseUrl, { timeoutSeconds: 20, ...options }).slice({ policyRef: 'p', scope: {} });
  const reply = (status: string, body: string, length = body.length) =>
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`;

  test.each<[string, (socket: Socket) => void, string]>([
    ['garbage', (socket) => socket.end('SSH-2.0-x\r\n'), 'kernel-answer'],
    ['another service', (socket) => socket.end(reply('200 OK', '<html>')), 'kernel-answer'],
    ['another object', (socket) => socket.end(reply('200 OK', '{"turnIds":["a"]}')), 'kernel-answer'],
    ['a part of JSON', (socket) => socket.end(reply('200 OK', '{"turnIds":["a"', 900)), 'kernel-answer'],
    ['a whole JSON that is too short', (socket) => socket.end(reply('200 OK', '{}', 900)), 'kernel-answer'],
    [
      'a redirection',
      (socket) => socket.end('HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n'),
      'kernel-answer',
    ],
    ['an error of a proxy', (socket) => socket.end(reply('502 Bad Gateway', '{}')), 'kernel-answer'],
    ['no answer', (socket) => socket.end(), 'kernel-unreachable'],
    ['a reset', (socket) => socket.resetAndDestroy(), 'kernel-unreachable'],
    ['headers without end', (socket) => socket.write(`HTTP/1.1 200 OK\r\nX: ${'x'.repeat(100_000)}`), 'kernel-answer'],
    [
      'a reason that is not known',
      (socket) => socket.end(reply('418 T', '{"reason":"tea","message":"no; stop"}')),
      'kernel-refused',
    ],
    [
      'the reason of a client',
      (socket) => socket.end(reply('400 B', '{"reason":"kernel-timeout","message":"no; stop"}')),
      'kernel-refused',
    ],
  ])('%s is an error, asked once', async (_, given, reason) => {
    answer = given;
    await expect(ask()).rejects.toEqual(failure(reason));
    expect(attempts).toBe(1);
  });

  test('an answer that goes on and on ends at the size limit, one that drips at the timeout', async () => {
    answer = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
      const more = () => void (socket.destroyed || socket.write(`fa0\r\n${' '.repeat(4000)}\r\n`, more));
      more();
    };
    await expect(ask({ maxAnswerBytes: 50_000 })).rejects.toEqual(
      failure('kernel-answer', expect.stringContaining('larger than 50000 bytes')),
    );
    const begin = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n';
    for (const [head, drop] of [
      [begin, 'X: y\r\n'],
      [`${begin}\r\n`, '1\r\n \r\n'],
    ] as const) {
      answer = (socket) => {
        socket.write(head);
        const timer = setInterval(() => socket.write(drop), 20);
        socket.on('close', () => clearInterval(timer));
      };
      await expect(ask({ timeoutSeconds: 0.2 })).rejects.toEqual(failure('kernel-timeout'));
    }
  });

  test('a kernel that is closing or not there is asked again, as often as it is said', async () => {
    answer = (socket, attempt) => {
      const closing = '{"code":"KERNEL_CLOSING","reason":"closing","message":"kernel is closing; ask again"}';
      socket.end(
        attempt < 3 ? reply('503 X', closing) : reply('409 X', '{"reason":"stale","message":"old; ask again"}'),
      );
    };
    await expect(ask()).rejects.toEqual(failure('stale'));
    expect(attempts).toBe(3);
    attempts = 0;
    await expect(ask({ maxAttempts: 2 })).rejects.toEqual(
      failure('kernel-refused', expect.stringContaining('closing')),
    );
    expect(attempts).toBe(2);
    // Pauses end with the timeout.
    await expect(
      open('http://127.0.0.1:1', { timeoutSeconds: 0.1, pauseSeconds: 30 }).verify({} as never, null),
    ).rejects.toEqual(failure('kernel-timeout'));
  });

  test('a kept connection that is reset is replaced, and the question repeated once', async () => {
    const stale = reply('409 X', '{"reason":"stale","message":"old; ask again"}');
    const talk = async (resets: readonly number[], maxAttempts: number) => {
      attempts = 0;
      answer = (socket, attempt) =>
        resets.includes(attempt) ? void socket.resetAndDestroy() : void socket.write(stale);
      const authority = open(baseUrl, { timeoutSeconds: 20, maxAttempts });
      const askOnce = () => authority.slice({ policyRef: 'p', scope: {} });
      await expect(askOnce()).rejects.toEqual(failure('stale'));
      await askOnce().catch(({ reason }) =>
        expect(reason).toBe(resets.length === 1 && maxAttempts > 1 ? 'stale' : 'kernel-unreachable'),
      );
      return attempts;
    };
    expect(await talk([2], 3)).toBe(3);
    expect(await talk([2], 1)).toBe(2);
    expect(await talk([2, 3], 3)).toBe(3); // a new connection that is reset is a failure
  });

  test('an address that is none is refused, and its password is not shown', () => {
    expect(() => createHttpAuthority({ baseUrl: 'ftp://k' })).toThrow(ConfigurationError);
    expect(() => createHttpAuthority({ baseUrl: 'http://k', timeoutSecond: 3 } as never)).toThrow(
      'did you mean timeoutSeconds?',
    );
    expect(() => createHttpAuthority({ baseUrl: 'http://ann:pw@k' })).toThrow('without a name or password');
  });
});
