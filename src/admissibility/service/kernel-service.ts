import type { Duplex } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify';
import { z } from 'zod';
import { check } from '../../core/validation.ts';
import type { Kernel } from '../kernel.ts';
import { sliceExportSchema, sliceRequestSchema } from '../slice-export.ts';
import { describeBodyFaults, describeError, describeFault, type Refusal } from './refusal.ts';
import { ServiceMetrics } from './service-metrics.ts';

/** What bounds a request. */
export interface KernelServiceOptions {
  /** The largest body. 8 MiB by default, which is some 200,000 ids. */
  readonly maxBodyBytes?: number;
  /** The longest time in which a whole request arrives. */
  readonly requestSeconds?: number;
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

/** Every answer that is no success is counted, and has the body of a refusal. */
function addRefusals(app: FastifyInstance, metrics: ServiceMetrics, onError: (error: unknown) => void): void {
  const refuse = (reply: FastifyReply, { status, body }: Refusal) => {
    metrics.refusals.inc({ reason: body.reason });
    return reply.code(status).send(body);
  };
  app.setErrorHandler((error, _request, reply) => {
    const refusal = error instanceof RefusedRequest ? error.refusal : describeError(error);
    if (refusal.status === 500) onError(error);
    return refuse(reply, refusal);
  });
  app.setNotFoundHandler(({ url }, reply) => {
    const [path] = url.split('?') as [string];
    const isPath = (['GET', 'POST'] as const).some((method) => app.hasRoute({ method, url: path }));
    return refuse(reply, describeFault(isPath ? 'method' : 'path'));
  });
}

function createApp(options: KernelServiceOptions, metrics: ServiceMetrics): FastifyInstance {
  const { maxBodyBytes = 2 ** 23, requestSeconds = 10, onError = () => {} } = options;
  const requestTimeout = Math.ceil(1000 * requestSeconds);
  const connectionsCheckingInterval = Math.ceil(Math.min(1000, requestTimeout / 4));
  const app = fastify({
    bodyLimit: maxBodyBytes,
    requestTimeout,
    http: { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval },
    return503OnClosing: false, // createKernelService answers, with the body of a refusal
    exposeHeadRoutes: false,
    clientErrorHandler(error, socket) {
      const known = describeError(error);
      const refusal = known.status === 500 ? describeFault('protocol') : known;
      metrics.refusals.inc({ reason: refusal.body.reason });
      metrics.requests.inc({ path: '(unread)', status: refusal.status });
      answerBrokenRequest(refusal, socket);
    },
  });
  app.removeContentTypeParser('text/plain');
  app.addHook('onResponse', async ({ routeOptions }, { statusCode, elapsedTime }) => {
    const path = routeOptions.url ?? '(other)';
    metrics.requests.inc({ path, status: statusCode });
    metrics.seconds.observe({ path }, elapsedTime / 1000);
  });
  addRefusals(app, metrics, onError);
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
