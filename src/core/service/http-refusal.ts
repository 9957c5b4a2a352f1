import { type ConfigurationFault, ValidationError } from '../errors/errors.ts';

/** An answer that is no success. */
export interface Refusal {
  readonly status: number;
  readonly body: RefusalBody;
}

/** The body of every answer that is no success. */
export interface RefusalBody {
  /** Stable, for programs. */
  readonly code: string;
  readonly reason: string;
  /** For people; ends with what to do. */
  readonly message: string;
}

/** The name of a service in answers, and its paths. */
export interface ServiceWords {
  /** `kernel` or `memory`. */
  readonly name: string;
  /** Paths with their methods, as a list in words. */
  readonly paths: string;
  /** The page that describes bodies. */
  readonly page: string;
}

/** Requests that a service does not handle, each with its status and what to do. */
const FAULTS = {
  body: [400, ({ page }) => `body is not what this path takes; see ${page}`],
  json: [400, () => 'body is not JSON; send one JSON object'],
  protocol: [400, () => 'request is not HTTP/1.1, or broke off; check what sends it'],
  token: [
    401,
    ({ name }) => `request has no valid token; send the token of the ${name} as Authorization: Bearer TOKEN`,
  ],
  path: [404, ({ paths }) => `there is no such path; use ${paths}`],
  method: [405, ({ paths }) => `path has another method; use ${paths}`],
  'slow-request': [408, () => 'request did not arrive in time; send it faster or raise --request-seconds'],
  'body-limit': [413, () => 'body is too large; send less or raise --max-body'],
  'content-type': [415, () => 'body is of another type; send application/json'],
  host: [
    421,
    ({ name }) =>
      `host of the request is none of this ${name}; name this machine, or start the ${name} with --allow-host`,
  ],
  headers: [431, () => 'headers are too large; send fewer'],
  internal: [500, ({ name }) => `${name} failed; read its log`],
  closing: [503, ({ name }) => `${name} is closing; ask again in a moment`],
} as const satisfies Readonly<Record<string, readonly [number, (words: ServiceWords) => string]>>;
export type RequestFault = keyof typeof FAULTS;

/** The most characters of a message: it may quote what was sent. */
const LONGEST_MESSAGE = 2000;

/** The codes of fastify and of node:http for requests that they refuse. */
const FAULT_OF_CODE: Readonly<Record<string, RequestFault>> = {
  FST_ERR_CTP_INVALID_JSON_BODY: 'json',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'json',
  FST_ERR_BAD_URL: 'path',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'protocol',
  ECONNRESET: 'protocol',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'content-type',
  FST_ERR_CTP_BODY_TOO_LARGE: 'body-limit',
  ERR_HTTP_REQUEST_TIMEOUT: 'slow-request',
  HPE_HEADER_OVERFLOW: 'headers',
};

/** The refusals of a service, in its words. */
export class Refusals {
  readonly #words: ServiceWords;
  readonly #describeOwn: (error: unknown) => Refusal | null;

  /** @param describeOwn of the errors of the service itself; null for others. */
  constructor(words: ServiceWords, describeOwn: (error: unknown) => Refusal | null) {
    this.#words = words;
    this.#describeOwn = describeOwn;
  }

  /** A request that is refused before the service sees it. */
  describeFault(fault: RequestFault, message?: string): Refusal {
    const [status, describe] = FAULTS[fault];
    const code = `${this.#words.name}_${fault}`.toUpperCase().replaceAll('-', '_');
    return { status, body: { code, reason: fault, message: message ?? describe(this.#words) } };
  }

  /** A body with errors, each with its path and the nearest known key. */
  describeBodyFaults(faults: readonly ConfigurationFault[]): Refusal {
    const lines = faults.map(({ path, expected, got, nearest }) => {
      const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
      return `${path}: expected ${expected}, got ${got}${hint}`;
    });
    const message = `invalid body: ${lines.join('; ')}`;
    const shown = message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message;
    return this.describeFault('body', shown);
  }

  /** The answer to an error. No stack, cause or fact of an error is part of it. */
  describeError(error: unknown): Refusal {
    if (error instanceof RefusedRequest) return error.refusal;
    const own = this.#describeOwn(error);
    if (own !== null) return own;
    // What JSON can hold and a signature cannot, such as half a surrogate pair.
    if (error instanceof ValidationError) return this.describeFault('body', error.message);
    const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown };
    const fault = typeof code === 'string' && Object.hasOwn(FAULT_OF_CODE, code) ? FAULT_OF_CODE[code] : undefined;
    // secure-json-parse: a SyntaxError with a status.
    return this.describeFault(fault ?? (error instanceof SyntaxError && statusCode === 400 ? 'json' : 'internal'));
  }
}

/** A request that the service does not see. */
export class RefusedRequest extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.body.message);
    this.refusal = refusal;
  }
}
