import { BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify from 'fastify';
import { Counter, Histogram, Registry } from 'prom-client';
import type { z } from 'zod';
import { letEventsIn } from '../terminal/progress.ts';
import { check } from '../validation/validation.ts';
import { createSerialRunner } from '../values/once.ts';
import { type Refusal, type Refusals, RefusedRequest } from './http-refusal.ts';

/** Bytes of a body that takes no time worth waiting for. */
const SMALL_BODY = 2 ** 15;

/** Bounds of a body. What reads JSON takes longer for a key or a level than for an item of a list. */
export interface BodyLimits {
  readonly mostBytes: number;
  readonly mostKeys: number;
  readonly deepest: number;
}

/** The parts of a service, and the bounds of its requests. */
export interface HttpServiceOptions {
  readonly refusals: Refusals;
  readonly limits: BodyLimits;
  readonly metrics: ServiceMetrics;
  /** The longest time in which a whole request arrives. Default 10. */
  readonly requestSeconds?: number;
  /**
   * Names of this service in the header `Host`, besides those of this machine. Without them a request to an address of
   * this machine must name this machine, and a request to another address may name anything.
   */
  readonly hosts?: readonly string[];
  /** Called with an error that is no refusal: a bug. The answer does not show it. */
  readonly onError?: (error: unknown) => void;
}

/** A service, and how it ends. */
export interface HttpService {
  readonly app: FastifyInstance;
  /** Accepts no more, finishes the open requests within a time, and closes all connections. */
  close(withinSeconds?: number): Promise<void>;
}

/** @throws RefusedRequest. */
export function readBody<S extends z.ZodType>(schema: S, body: unknown, refusals: Refusals): z.output<S> {
  const checked = check(schema, body);
  if ('faults' in checked) throw new RefusedRequest(refusals.describeBodyFaults(checked.faults));
  return checked.value;
}

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
/** The only bit in which `[` and `{` differ, and `]` and `}`. */
const [OPEN, CLOSE, BRACE_BIT] = [0x7b, 0x7d, 0x20];

/** Refuses a text with more keys or levels than a request has before it is read as JSON. @throws RefusedRequest. */
function assertFlat(body: Uint8Array, { mostKeys, deepest }: BodyLimits, refusals: Refusals): void {
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
    if (keys <= mostKeys && depth <= deepest) continue;
    const expected = `at most ${mostKeys} keys and ${deepest} levels`;
    throw new RefusedRequest(refusals.describeBodyFaults([{ path: '(top level)', expected, got: 'more' }]));
  }
}

/** Reads bodies as JSON. Of large ones, one at a time, and what others ask in between. */
function addBodyParser(app: FastifyInstance, limits: BodyLimits, refusals: Refusals): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  const inTurn = createSerialRunner();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, async (request: FastifyRequest, body: Buffer) => {
    if (body.length > SMALL_BODY) await inTurn(letEventsIn);
    assertFlat(body, limits, refusals);
    return new Promise<unknown>((resolve, reject) => {
      parseJson(request, body.toString(), (error, value) => (error === null ? resolve(value) : reject(error)));
    });
  });
}

/** Upper bounds of the buckets of a latency in seconds. */
const SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

/** Counters of a service, as Prometheus reads them. Labels have few values: no id is one. */
export class ServiceMetrics {
  readonly #registry = new Registry();
  readonly #registers = [this.#registry];
  readonly #name: string;
  readonly requests: Counter<'path' | 'status'>;
  readonly seconds: Histogram<'path'>;
  readonly refusals: Counter<'reason'>;

  /** @param name of the service, for the names of its counters: `ragpp_NAME_requests_total`. */
  constructor(name: string) {
    this.#name = name;
    const registers = this.#registers;
    this.requests = new Counter({
      ...{ name: `ragpp_${name}_requests_total`, help: 'Requests by path and status.', registers },
      labelNames: ['path', 'status'],
    });
    this.seconds = new Histogram({
      ...{ name: `ragpp_${name}_request_seconds`, help: 'Time of a request by path.', registers },
      ...{ labelNames: ['path'], buckets: SECONDS },
    });
    this.refusals = new Counter({
      ...{ name: `ragpp_${name}_refusals_total`, registers },
      ...{ help: 'Requests that were refused, by reason.', labelNames: ['reason'] },
    });
  }

  /** Adds a histogram of a figure. @param name after `ragpp_NAME_`. @param buckets their upper bounds. */
  addHistogram(name: string, help: string, buckets: number[]): Histogram {
    return new Histogram({ name: `ragpp_${this.#name}_${name}`, help, buckets, registers: this.#registers });
  }

  /** Adds a counter that is read when it is asked for. @param name after `ragpp_NAME_`. */
  addCounter(name: string, help: string, read: () => number): void {
    new Counter({
      ...{ name: `ragpp_${this.#name}_${name}`, help, registers: this.#registers },
      collect() {
        this.reset();
        this.inc(read());
      },
    });
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

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** True of an address of this machine. */
export const isLoopback = (address: string) =>
  isIP(address) > 0 && LOOPBACK.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** The name in a header `Host`, without its port and the brackets of an IPv6 address. */
function readHostName(host: string): string {
  return (/^\[(.*)\](?::\d+)?$|^(.*?)(?::\d+)?$/.exec(host)?.slice(1).find(Boolean) ?? '').toLowerCase();
}

/** Refuses a request under a name of another: a page of a browser can give its own name the address of this machine. */
function addHostCheck(app: FastifyInstance, hosts: readonly string[] | undefined, refusals: Refusals): void {
  const names = new Set(hosts?.map((host) => host.toLowerCase()));
  app.addHook('onRequest', async ({ raw }) => {
    const { localAddress } = raw.socket;
    if (hosts === undefined && (localAddress === undefined || !isLoopback(localAddress))) return;
    const name = readHostName(raw.headers.host ?? '');
    if (name !== 'localhost' && !isLoopback(name) && !names.has(name))
      throw new RefusedRequest(refusals.describeFault('host'));
  });
}

/** Answers a request that node:http could not read, such as one that is too slow. */
function answerBrokenRequest(refusal: Refusal, socket: Duplex): void {
  const body = JSON.stringify(refusal.body);
  const head = `HTTP/1.1 ${refusal.status} Refused\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}`;
  if (socket.writable) socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`);
  else socket.destroy();
}

/** The methods of paths. */
const METHODS = ['GET', 'POST', 'DELETE'] as const;

/**
 * Every answer that is no success is counted, and has the body of a refusal.
 *
 * @param broken connections whose end is counted.
 */
function addRefusals(
  app: FastifyInstance,
  metrics: ServiceMetrics,
  broken: WeakSet<Duplex>,
  { refusals, onError = () => {} }: HttpServiceOptions,
): void {
  const refuse = (reply: FastifyReply, { status, body }: Refusal) => {
    metrics.refusals.inc({ reason: body.reason });
    if (status === 503) reply.header('retry-after', '1');
    return reply.code(status).send(body);
  };
  app.setErrorHandler((error, { raw }, reply) => {
    const refusal = refusals.describeError(error);
    if (refusal.status === 500) onError(error);
    if (broken.has(raw.socket)) return reply.hijack();
    return refuse(reply, refusal);
  });
  app.setNotFoundHandler(({ url }, reply) => {
    const [path] = url.split('?') as [string];
    const isPath = METHODS.some((method) => app.hasRoute({ method, url: path }));
    return refuse(reply, refusals.describeFault(isPath ? 'method' : 'path'));
  });
}

function createApp(options: HttpServiceOptions, metrics: ServiceMetrics): FastifyInstance {
  const { refusals, limits, requestSeconds = 10, hosts } = options;
  const requestTimeout = Math.ceil(1000 * requestSeconds);
  const connectionsCheckingInterval = Math.ceil(Math.min(1000, requestTimeout / 4));
  const broken = new WeakSet<Duplex>();
  const count = (path: string, { status, body }: Refusal) => {
    metrics.refusals.inc({ reason: body.reason });
    metrics.requests.inc({ path, status });
  };
  const app = fastify({
    bodyLimit: limits.mostBytes,
    requestTimeout,
    // A request without a name of its host is refused as one with a wrong name is.
    http: { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval, requireHostHeader: false },
    return503OnClosing: false, // createHttpService answers, with the body of a refusal
    exposeHeadRoutes: false,
    frameworkErrors(error, _request, reply) {
      const refusal = refusals.describeError(error);
      count('(other)', refusal);
      (reply as FastifyReply).code(refusal.status).send(refusal.body);
    },
    clientErrorHandler(error, socket) {
      // A connection that breaks off within a body, or is too slow, has several errors.
      if (broken.has(socket)) return;
      broken.add(socket);
      const known = refusals.describeError(error);
      const refusal = known.status === 500 ? refusals.describeFault('protocol') : known;
      count('(unread)', refusal);
      answerBrokenRequest(refusal, socket);
    },
  });
  // A header `Expect` has no effect: node:http would refuse an unknown one without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  addBodyParser(app, limits, refusals);
  app.addHook('onResponse', async ({ routeOptions }, { statusCode, elapsedTime }) => {
    const path = routeOptions.url ?? '(other)';
    metrics.requests.inc({ path, status: statusCode });
    metrics.seconds.observe({ path }, elapsedTime / 1000);
  });
  addHostCheck(app, hosts, refusals);
  addRefusals(app, metrics, broken, options);
  return app;
}

/**
 * A service over HTTP with `GET /metrics`; the caller adds the other paths. Bodies are checked by our schemas and not
 * by those of fastify, which would drop an unknown key without a word.
 */
export function createHttpService(options: HttpServiceOptions): HttpService {
  const { metrics, refusals } = options;
  const app = createApp(options, metrics);
  let open = 0;
  let isClosing = false;
  app.addHook('onRequest', async (_request, { raw }) => {
    open++;
    raw.once('close', () => open--);
    if (isClosing) throw new RefusedRequest(refusals.describeFault('closing'));
  });
  app.addHook('onSend', async (_request, reply) => {
    if (isClosing) reply.header('connection', 'close');
  });
  app.get('/metrics', async (_request, reply) => {
    reply.type(metrics.contentType);
    return metrics.format();
  });
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
