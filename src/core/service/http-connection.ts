import http from 'node:http';
import https from 'node:https';

/** An answer that is longer than it may be, and is discarded. */
export class BodyTooLargeError extends Error {
  constructor(most: number) {
    super(`the answer has more than ${most.toLocaleString('en-US')} bytes`);
  }
}

/**
 * The chunks of an answer from outside, which is given up as soon as it is longer than `most` bytes: the caller's loop
 * ends with the error, and the connection is closed.
 *
 * @throws BodyTooLargeError.
 */
export async function* limitBody(chunks: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > most) throw new BodyTooLargeError(most);
    yield chunk;
  }
}

/**
 * The text of an answer, UTF-8.
 *
 * @throws BodyTooLargeError for an answer of more than `most` bytes; the error of the connection.
 */
export async function readLimitedText(chunks: AsyncIterable<Uint8Array>, most: number): Promise<string> {
  const read: Uint8Array[] = [];
  for await (const chunk of limitBody(chunks, most)) read.push(chunk);
  return new TextDecoder().decode(Buffer.concat(read));
}

/** An answer of any status, read to its end. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** What a request sends and what bounds its answer. */
export interface HttpRequest {
  /** Default `POST`. */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** JSON; empty: no body. */
  readonly text: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly mostBytes: number;
  readonly signal: AbortSignal;
}

/**
 * A request without a whole answer: the connection is `refused`, or was closed before this request came to it; the host is `unreachable`; what comes is
 * `invalid` HTTP; the answer is `unfinished`.
 */
export class ConnectionFault extends Error {
  readonly kind: 'refused' | 'unreachable' | 'invalid' | 'unfinished';

  constructor(kind: ConnectionFault['kind'], cause: NodeJS.ErrnoException) {
    super(cause.message || cause.code, { cause });
    this.kind = kind;
  }
}

/** Codes of node:net and node:dns for a host that is not there. */
const UNREACHABLE = /^(?:ECONNREFUSED|ECONNRESET|ECONNABORTED|EPIPE|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;

function classifyFault({ code = '' }: NodeJS.ErrnoException, isReused: boolean): ConnectionFault['kind'] {
  // A kept connection that the other side closed before this request came to it is a connection that it refuses.
  if (code === 'ECONNREFUSED' || (code === 'ECONNRESET' && isReused)) return 'refused';
  return UNREACHABLE.test(code) ? 'unreachable' : 'invalid';
}

/** Connections over http and https, kept from request to request. Redirects are not followed: a key belongs to one address. */
export class HttpConnection {
  readonly #agents: Readonly<Record<'http' | 'https', http.Agent>>;

  /** @param maxConnections to one host at once; further requests wait for one. */
  constructor(maxConnections = Number.POSITIVE_INFINITY) {
    const options = { keepAlive: true, maxSockets: maxConnections };
    this.#agents = { http: new http.Agent(options), https: new https.Agent(options) };
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy();
  }

  /**
   * One attempt; there is no half answer.
   *
   * @throws ConnectionFault, also of an abortion; BodyTooLargeError.
   */
  send(url: string, { method = 'POST', text, headers, mostBytes, signal }: HttpRequest): Promise<HttpAnswer> {
    const [client, agent] = url.startsWith('https:') ? [https, this.#agents.https] : [http, this.#agents.http];
    return new Promise((resolve, reject) => {
      const type = text === '' ? {} : { 'content-type': 'application/json' };
      const own = { ...type, 'content-length': Buffer.byteLength(text) };
      const request = client.request(url, { method, agent, headers: { ...own, ...headers }, signal });
      let hasBegun = false;
      request.on('error', (error) =>
        reject(new ConnectionFault(hasBegun ? 'unfinished' : classifyFault(error, request.reusedSocket), error)),
      );
      request.on('response', (response) => {
        hasBegun = true;
        readLimitedText(response, mostBytes).then(
          (answer) => resolve({ status: response.statusCode as number, headers: response.headers, text: answer }),
          (error) => reject(error instanceof BodyTooLargeError ? error : new ConnectionFault('unfinished', error)),
        );
      });
      request.end(text);
    });
  }
}
