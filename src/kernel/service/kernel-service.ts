import { BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify from 'fastify';
import { Counter, Histogram, Registry } from 'prom-client';
import { z } from 'zod';
import { letEventsIn } from '../../core/terminal/progress.ts';
import { check } from '../../core/validation/validation.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import type { Kernel } from '../authority/kernel.ts';
import { sliceExportSchema, sliceRequestSchema } from '../signatures/slice-export.ts';
import type { CacheUse } from '../slices/slice-search.ts';
import { describeBodyFaults, describeError, describeFault, type Refusal } from './refusal.ts';

/** The largest body by default: while one is read and checked, others wait. */
export const LARGEST_BODY = 2 ** 19;

/** Bytes of a body that takes no time worth waiting for. */
const SMALL_BODY = 2 ** 15;

/** No request has more; what reads JSON takes longer for each than for the ids of a list. */
const [MOST_KEYS, DEEPEST] = [100, 8];

/** A request that no kernel sees. */
class RefusedRequest extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.body.message);
    this.refusal = refusal;
  }
}

/** @throws RefusedRequest. */
function readBody<S extends z.ZodType>(schema: S, body: unknown): z.output<S> {
  const checked = check(schema, body);
  if ('faults' in checked) throw new RefusedRequest(describeBodyFaults(checked.faults));
  return checked.value;
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
/** The only bit in which `[` and `{` differ, and `]` and `}`. */
const [OPEN, CLOSE, BRACE_BIT] = [0x7b, 0x7d, 0x20];

/** Refuses a text with more keys or levels than a request has before it is read as JSON. @throws RefusedRequest. */
function assertFlat(body: Buffer): void {
  let [keys, depth, isText] = [0, 0, false];
  for (let i = 0; i < body.length; i++) {
    const byte = body[i] as number;
    if (isText) {
      if (byte === BACKSLASH) i++;
      else isText = byte !== QUOTE;
    } else if (byte === QUOTE) isText = true;
    else if (byte === COLON) keys++;
    else if ((byte | BRACE_BIT) === OPEN) depth++;
    else if ((byte | BRACE_BIT) === CLOSE) depth--;
    if (keys <= MOST_KEYS && depth <= DEEPEST) continue;
    const expected = `at most ${MOST_KEYS} keys and ${DEEPEST} levels`;
    throw new RefusedRequest(describeBodyFaults([{ path: '(top level)', expected, got: 'more' }]));
  }
}

/** Reads bodies as JSON. Of large ones, one at a time, and what others ask in between. */
function addBodyParser(app: FastifyInstance): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  const inTurn = createSerialRunner();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (body.length > SMALL_BODY) await inTurn(letEventsIn);

    assertFlat(body);
    return new Promise<unknown>((resolve, reject) => {
      parseJson(request, body.toString(), (error, value) => (error === null ? resolve(value) : reject(error)));
    });
  });
}

/** Upper bounds of the buckets of a latency in seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];
/** Upper bounds of the buckets of the turns of a slice. */
const TURNS = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 10_000, 100_000];

/** Counters of a kernel, as Prometheus reads it. Labels have few values: no id is one. */
class ServiceMetrics {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  readonly requests = new Counter({
    name: 'ragpp_kernel_requests_total',
    help: 'Requests by path and status.',
    labelNames: ['path', 'status'],
    registers: this.#registers,
  });
  readonly seconds = new Histogram({
    name: 'ragpp_kernel_request_seconds',
    help: 'Time of a request by path.',
    labelNames: ['path'],
    buckets: SECONDS,
    registers: this.#registers,
  });
  readonly refusals = new Counter({
    name: 'ragpp_kernel_refusals_total',
    help: 'Requests that got no slice or no check, by reason.',
    labelNames: ['reason'],
    registers: this.#registers,
  });
  readonly turns = new Histogram({
    name: 'ragpp_kernel_slice_turns',
    help: 'Turns of a slice; its count is that of the slices.',
    buckets: TURNS,
    registers: this.#registers,
  });

  /** @param readCache the use of the slices' cache at the moment of an answer. */
  constructor(readCache: () => CacheUse) {
    const count = (name: string, help: string, read: () => number) =>
      new Counter({
        ...{ name, help, registers: this.#registers },
        collect() {
          this.reset();
          this.inc(read());
        },
      });
    count('ragpp_kernel_cache_hits_total', 'Slices whose turns were known.', () => readCache().hits);
    count('ragpp_kernel_cache_misses_total', 'Slices whose turns were walked.', () => readCache().misses);
  }

  /** The type of {@link format}. */
  get contentType(): string {
    return this.#registry.contentType;
  }

  /** Text in the exposition format of Prometheus, version 0.0.4. */
  format(): Promise<string> {
    return this.#registry.metrics();
  }
}

/** What bounds a request. */
export interface KernelServiceOptions {
  /** The largest body. 512 KiB by default, which is some 12,000 ids: others wait while it is read and checked. */
  readonly maxBodyBytes?: number;
  /** The longest time in which a whole request arrives. */
  readonly requestSeconds?: number;
  /**
   * Names of this kernel in the header `Host`, besides those of this machine. Without them a request to an address of
   * this machine must name this machine, and a request to another address may name anything.
   */
  readonly hosts?: readonly string[];
  /** Called with an error that is no refusal: a bug. The answer does not show it. */
  readonly onError?: (error: unknown) => void;
}

/** A service, and how it ends. */
export interface KernelService {
  readonly app: FastifyInstance;
  /** Accepts no more, finishes the open requests within a time, and closes all connections. */
  close(withinSeconds?: number): Promise<void>;
}

const verifyRequestSchema = z.strictObject({
  slice: sliceExportSchema,
  /** The moment of use in milliseconds since 1970; null: now. */
  at: z.number('a moment in milliseconds since 1970').min(0).nullable().default(null),
});

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const isLoopback = (address: string) =>
  isIP(address) > 0 && LOOPBACK.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** The name in a header `Host`, without its port and the brackets of an IPv6 address. */
function readHostName(host: string): string {
  return (/^\[(.*)\](?::\d+)?$|^(.*?)(?::\d+)?$/.exec(host)?.slice(1).find(Boolean) ?? '').toLowerCase();
}

/** Refuses a request under a name of another: a page of a browser can give its own name the address of this machine. */
function addHostCheck(app: FastifyInstance, hosts: readonly string[] | undefined): void {
  const names = new Set(hosts?.map((host) => host.toLowerCase()));
  app.addHook('onRequest', async ({ raw }) => {
    const { localAddress } = raw.socket;
    if (hosts === undefined && (localAddress === undefined || !isLoopback(localAddress))) return;
    const name = readHostName(raw.headers.host ?? '');
    if (name !== 'localhost' && !isLoopback(name) && !names.has(name)) throw new RefusedRequest(describeFault('host'));
  });
}

/** Answers a request that node:http could not read, such as one that is too slow. */
function answerBrokenRequest(refusal: Refusal, socket: Duplex): void {
  const body = JSON.stringify(refusal.body);
  const head = `HTTP/1.1 ${refusal.status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  if (socket.writable) socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`);
  else socket.destroy();
}

/** Paths and methods, and what each answers. */
function addPaths(app: FastifyInstance, kernel: Kernel, metrics: ServiceMetrics): void {
  app.post('/slice', async ({ body }) => {
    const slice = await kernel.slice(readBody(sliceRequestSchema, body));
    metrics.turns.observe(slice.turnIds.length);
    return slice;
  });
  app.post('/slice/verify', async ({ body }) => {
    const { slice, at } = readBody(verifyRequestSchema, body);
    await kernel.verify(slice, at);
    return { valid: true };
  });
  app.get('/keys', async () => ({ keys: kernel.keys }));
  app.get('/health', async () => ({
    ...{ status: 'ok', corpusVersion: kernel.corpusVersion },
    ...{ policies: kernel.policyRefs, turns: kernel.turnCount },
  }));
  app.get('/metrics', async (_request, reply) => {
    reply.type(metrics.contentType);
    return metrics.format();
  });
}

/**
 * Every answer that is no success is counted, and has the body of a refusal.
 *
 * @param broken connections whose end is counted.
 */
function addRefusals(
  app: FastifyInstance,
  metrics: ServiceMetrics,
  broken: WeakSet<Duplex>,
  onError: (error: unknown) => void,
): void {
  const refuse = (reply: FastifyReply, { status, body }: Refusal) => {
    metrics.refusals.inc({ reason: body.reason });
    return reply.code(status).send(body);
  };
  app.setErrorHandler((error, { raw }, reply) => {
    const refusal = error instanceof RefusedRequest ? error.refusal : describeError(error);
    if (refusal.status === 500) onError(error);
    if (broken.has(raw.socket)) return reply.hijack();
    return refuse(reply, refusal);
  });
  app.setNotFoundHandler(({ url }, reply) => {
    const [path] = url.split('?') as [string];
    const isPath = (['GET', 'POST'] as const).some((method) => app.hasRoute({ method, url: path }));
    return refuse(reply, describeFault(isPath ? 'method' : 'path'));
  });
}

function createApp(options: KernelServiceOptions, metrics: ServiceMetrics): FastifyInstance {
  const { maxBodyBytes = LARGEST_BODY, requestSeconds = 10, hosts, onError = () => {} } = options;
  const requestTimeout = Math.ceil(1000 * requestSeconds);
  const connectionsCheckingInterval = Math.ceil(Math.min(1000, requestTimeout / 4));
  const broken = new WeakSet<Duplex>();
  const count = (path: string, { status, body }: Refusal) => {
    metrics.refusals.inc({ reason: body.reason });
    metrics.requests.inc({ path, status });
  };
  const app = fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout,
    // A request without a name of its host is refused as one with a wrong name is.
    http: { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval, requireHostHeader: false },
    return503OnClosing: false, // createKernelService answers, with the body of a refusal
    exposeHeadRoutes: false,
    frameworkErrors(error, _request, reply) {
      const refusal = describeError(error);
      count('(other)', refusal);
      (reply as FastifyReply).code(refusal.status).send(refusal.body);
    },
    clientErrorHandler(error, socket) {
      // A connection that breaks off within a body, or is too slow, has several errors.
      if (broken.has(socket)) return;
      broken.add(socket);
      const known = describeError(error);
      const refusal = known.status === 500 ? describeFault('protocol') : known;
      count('(unread)', refusal);
      answerBrokenRequest(refusal, socket);
    },
  });
  // A header `Expect` has no effect: node:http would refuse an unknown one without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  addBodyParser(app);
  app.addHook('onResponse', async ({ routeOptions }, { statusCode, elapsedTime }) => {
    const path = routeOptions.url ?? '(other)';
    metrics.requests.inc({ path, status: statusCode });
    metrics.seconds.observe({ path }, elapsedTime / 1000);
  });
  addHostCheck(app, hosts);
  addRefusals(app, metrics, broken, onError);
  return app;
}

/** A kernel behind HTTP. Bodies are checked by our schemas and not by those of fastify, which would drop an unknown key without a word. */
export function createKernelService(kernel: Kernel, options: KernelServiceOptions = {}): KernelService {
  const metrics = new ServiceMetrics(() => kernel.cacheUse);
  const app = createApp(options, metrics);
  let open = 0;
  let isClosing = false;
  app.addHook('onRequest', async (_request, { raw }) => {
    open++;
    raw.once('close', () => open--);
    if (isClosing) throw new RefusedRequest(describeFault('closing'));
  });
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });
  addPaths(app, kernel, metrics);
  return {
    app,
    async close(withinSeconds = 5) {
      isClosing = true;
      const closed = app.close();
      const end = performance.now() + 1000 * withinSeconds;
      while (open > 0 && performance.now() < end) await pause(5);
      app.server.closeAllConnections(); // also those on which no request has come
      await closed;
    },
  };
}
