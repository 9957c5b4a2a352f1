import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** A request as the service got it. */
export interface ReceivedRequest {
  readonly path: string;
  readonly authorization: string | undefined;
  /** Names and values in turn, as they came. */
  readonly headers: readonly string[];
  readonly body: {
    readonly model: string;
    readonly input: string[];
    readonly dimensions?: number;
    /** Of a request to `/chat/completions`, which has no input. */
    readonly messages?: readonly { readonly role: string; readonly content: string }[];
    readonly temperature?: number;
  };
}

/** What the service answers; null breaks the connection, 'silence' never answers, 'endless' never stops. */
export type Answer = { status: number; body: unknown; headers?: Record<string, string> } | 'silence' | 'endless' | null;

/** The vector of a text: of its letters, not of length 1. */
export function computeServedVector(text: string, dimension: number): number[] {
  const code = [...text].reduce((sum, letter) => (31 * sum + letter.charCodeAt(0)) % 1009, 7);
  return Array.from({ length: dimension }, (_, d) => 3 * Math.cos(code * (d + 1)));
}

/** The answer of a service that works: vectors in reverse order, a token for each word. */
export function answerEmbeddings({ body: { input } }: ReceivedRequest, dimension = 5): Answer {
  const data = input.map((text, index) => ({
    object: 'embedding',
    index,
    embedding: computeServedVector(text, dimension),
  }));
  const tokens = input.flatMap((text) => text.split(' ')).length;
  return {
    status: 200,
    body: { object: 'list', data: data.reverse(), usage: { prompt_tokens: tokens, total_tokens: tokens } },
  };
}

function writeOn(response: ServerResponse): void {
  if (!response.destroyed) response.write(Buffer.alloc(2 ** 20, ' '), () => writeOn(response));
}

/** A local service whose answers the test chooses. */
export class EmbeddingService {
  readonly received: ReceivedRequest[] = [];
  answer: (request: ReceivedRequest, count: number) => Answer = (request) => answerEmbeddings(request);
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const received: ReceivedRequest = {
      path: request.url as string,
      authorization: request.headers.authorization,
      headers: request.rawHeaders,
      body: JSON.parse(Buffer.concat(parts).toString()),
    };
    this.received.push(received);
    const answer = this.answer(received, this.received.length);
    if (answer === 'silence') return;
    if (answer === null) return void response.destroy();
    if (answer === 'endless') return writeOn(response);
    response.writeHead(answer.status, answer.headers);
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
  }

  #listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  static async start(): Promise<EmbeddingService> {
    const service = new EmbeddingService();
    await service.#listen();
    return service;
  }

  /** The service of a test file: runs while its tests run, and is reset after each. */
  static useInTests(): EmbeddingService {
    const service = new EmbeddingService();
    beforeAll(() => service.#listen());
    afterEach(() => service.reset());
    afterAll(() => service.stop());
    return service;
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  reset(): void {
    this.received.length = 0;
    this.answer = (request) => answerEmbeddings(request);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}
