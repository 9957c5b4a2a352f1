import { type ConfigurationFault, ValidationError } from '../../core/errors/errors.ts';
import { AdmissibilityError, type AdmissibilityReason } from '../signatures/admissibility-error.ts';

/** What a kernel answers instead of a slice. */
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

/** 403: no; 404: there is no such thing; 409: it was so, and is not any more; 422: understood, and cannot be done. */
const STATUS_OF_REASON: Readonly<Partial<Record<AdmissibilityReason, number>>> = {
  signature: 403,
  fingerprint: 403,
  order: 403,
  twin: 403,
  scope: 403,
  policy: 403,
  moment: 403,
  'key-retired': 403,
  'key-untrusted': 403,
  'unknown-policy': 404,
  'unknown-anchor': 404,
  'unknown-turn': 404,
  stale: 409,
  corpus: 409,
  expired: 409,
  'not-yet-valid': 409,
  chain: 409,
  'no-anchor': 422,
  limit: 422,
  budget: 422,
  malformed: 422,
};

/** Requests that no kernel sees, each with its status and what to do. */
const FAULTS = {
  body: [400, 'body is not what this path takes; see docs/kernel.md'],
  json: [400, 'body is not JSON; send one JSON object'],
  protocol: [400, 'request is not HTTP/1.1, or broke off; check what sends it'],
  path: [404, 'there is no such path; use POST /slice, POST /slice/verify, GET /keys, GET /health or GET /metrics'],
  method: [405, 'path has another method; use POST /slice, POST /slice/verify, GET /keys, GET /health or GET /metrics'],
  'slow-request': [408, 'request did not arrive in time; send it faster or raise --request-seconds'],
  'body-limit': [413, 'body is too large; send fewer ids or raise --max-body'],
  host: [421, 'host of the request is none of this kernel; name this machine, or start the kernel with --allow-host'],
  'content-type': [415, 'body is of another type; send application/json'],
  headers: [431, 'headers are too large; send fewer'],
  closing: [503, 'kernel is closing; ask again in a moment'],
  internal: [500, 'kernel failed; read its log'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;
export type RequestFault = keyof typeof FAULTS;

/** A request that is refused before a kernel sees it. */
export function describeFault(fault: RequestFault, message?: string): Refusal {
  const [status, known] = FAULTS[fault];
  const code = `KERNEL_${fault.toUpperCase().replaceAll('-', '_')}`;
  return { status, body: { code, reason: fault, message: message ?? known } };
}

/** The most characters of a message: it may quote what was sent. */
const LONGEST_MESSAGE = 2000;

/** A body with errors, each with its path and the nearest known key. */
export function describeBodyFaults(faults: readonly ConfigurationFault[]): Refusal {
  const lines = faults.map(({ path, expected, got, nearest }) => {
    const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
    return `${path}: expected ${expected}, got ${got}${hint}`;
  });
  const message = `invalid body: ${lines.join('; ')}`;
  return describeFault('body', message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message);
}

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

/** What is answered to an error. No stack, cause or fact of an error is part of it. */
export function describeError(error: unknown): Refusal {
  if (error instanceof AdmissibilityError) {
    const status = STATUS_OF_REASON[error.reason];
    if (status !== undefined)
      return { status, body: { code: error.code, reason: error.reason, message: error.message } };
  }
  // What JSON can hold and a signature cannot, such as half a surrogate pair.
  if (error instanceof ValidationError) return describeFault('body', error.message);
  const { code, statusCode } = error as { readonly code?: unknown; readonly statusCode?: unknown };
  const fault = typeof code === 'string' && Object.hasOwn(FAULT_OF_CODE, code) ? FAULT_OF_CODE[code] : undefined;
  // secure-json-parse: a SyntaxError with a status.
  return describeFault(fault ?? (error instanceof SyntaxError && statusCode === 400 ? 'json' : 'internal'));
}
