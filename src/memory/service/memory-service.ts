import { createHash, timingSafeEqual } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { RefusedRequest } from '../../core/service/http-refusal.ts';
import {
  createHttpService,
  type HttpService,
  type HttpServiceOptions,
  readBody,
  ServiceMetrics,
} from '../../core/service/http-service.ts';
import { EventStreams } from './event-stream.ts';
import type { McpEndpoint } from './mcp.ts';
import { buildOpenApi } from './openapi.ts';
import { memoryRefusals } from './refusal.ts';
import { ROUTES } from './routes.ts';
import type { ToolSetting } from './tools.ts';

/** The largest body by default, enough for some thousand turns. */
export const LARGEST_BODY = 2 ** 23;
const DEEPEST = 12;

/** The bounds of requests, and who may send them. */
export interface MemoryServiceOptions extends Pick<HttpServiceOptions, 'requestSeconds' | 'hosts' | 'onError'> {
  /** Default 8 MiB. */
  readonly maxBodyBytes?: number;
  /** Requests must have it as `Authorization: Bearer TOKEN`; null: anybody may send requests. */
  readonly token: string | null;
  /** Tools at `POST /mcp`; null: there is no such path. The caller closes it. */
  readonly mcp: McpEndpoint | null;
}

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Refuses requests without the token; `GET /v1/health` is for everybody. */
function addTokenCheck(app: HttpService['app'], token: string): void {
  const expected = digest(`Bearer ${token}`);
  app.addHook('onRequest', async ({ headers, routeOptions }) => {
    if (routeOptions.url === '/v1/health') return;
    if (!timingSafeEqual(digest(headers.authorization ?? ''), expected))
      throw new RefusedRequest(memoryRefusals.describeFault('token'));
  });
}

/** Gives requests to the tools, and answers with what they answer. */
function addMcp(app: HttpService['app'], endpoint: McpEndpoint): void {
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    async handler({ method, headers, body, raw }, reply) {
      const url = `http://${headers.host ?? 'localhost'}/mcp`;
      const given = Object.entries(headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value]] : [],
      );
      const closed = new AbortController();
      raw.once('close', () => closed.abort());
      const text = method === 'POST' ? { body: JSON.stringify(body) } : {};
      const request = new Request(url, {
        method,
        headers: given as [string, string][],
        signal: closed.signal,
        ...text,
      });
      const answer = await endpoint.fetch(request, method === 'POST' ? { parsedBody: body } : {});
      reply.code(answer.status).headers(Object.fromEntries(answer.headers));
      return reply.send(answer.body === null ? '' : Readable.fromWeb(answer.body as ReadableStream));
    },
  });
}

/** The paths of the memory itself, each with the schema of its body. */
function addRoutes(app: HttpService['app'], setting: ToolSetting): void {
  for (const { method, path, body: schema, run } of ROUTES)
    app.route<{ Params: { readonly id?: string } }>({
      ...{ method, url: path },
      async handler({ body, params: { id = '' } }, reply) {
        const read = schema === null ? null : readBody(schema, body, memoryRefusals);
        reply.header('cache-control', 'no-store');
        return run({ body: read, id }, setting);
      },
    });
}

/**
 * A memory that answers by an arm, behind HTTP: `POST /v1/records`, `/v1/ask` and the other paths of
 * `GET /v1/openapi.json`, changes at `GET /v1/events`, `GET /v1/health` and `GET /metrics`. The memory is borrowed.
 */
export function createMemoryService(setting: ToolSetting, options: MemoryServiceOptions): HttpService {
  const { maxBodyBytes = LARGEST_BODY, token, mcp, ...bounds } = options;
  const { memory } = setting;
  const metrics = new ServiceMetrics('memory');
  const streams = new EventStreams(memory);
  metrics.addCounter('changes_total', 'Changes of the memory.', () => memory.sequence);
  metrics.addCounter('conservation_violations_total', 'Broken laws.', () => memory.conservation.counts.violations);
  const limits = { mostBytes: maxBodyBytes, mostKeys: Number.POSITIVE_INFINITY, deepest: DEEPEST };
  const service = createHttpService({ ...bounds, refusals: memoryRefusals, limits, metrics });
  const { app } = service;
  if (token !== null) addTokenCheck(app, token);
  addRoutes(app, setting);
  if (mcp !== null) addMcp(app, mcp);
  const document = buildOpenApi();
  app.get('/v1/openapi.json', async () => document);
  app.get('/v1/health', async () => ({ status: 'ok', sequence: memory.sequence }));
  app.get('/v1/events', async (_request, reply) => {
    reply.hijack();
    streams.add(reply.raw);
  });
  app.addHook('preClose', async () => streams.close());
  return service;
}
