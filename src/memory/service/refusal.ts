import { RagPlusPlusError } from '../../core/errors/errors.ts';
import { type Refusal, Refusals } from '../../core/service/http-refusal.ts';

/** 4xx: what was asked; 503 and 504: the same request may be repeated later. Other errors of ours are 500. */
const STATUS_OF_CODE: Readonly<Record<string, number>> = {
  CONFIGURATION: 400,
  VALIDATION: 400,
  DIMENSION_MISMATCH: 400,
  NOT_FINITE: 400,
  INVALID_FILTER: 400,
  SENSITIVE_TEXT: 403,
  RECORD_NOT_FOUND: 404,
  INDEX_NOT_FOUND: 404,
  DUPLICATE_RECORD: 409,
  CONSERVATION_VIOLATION: 409,
  QUERY: 422,
  STORAGE: 503,
  UNAVAILABLE: 503,
  INDEX_BUILD: 503,
  QUERY_TIMEOUT: 504,
  INDEX_CAPACITY: 507,
};

/** The code and the message that a program would get; no fact, cause or stack. */
function describeOwn(error: unknown): Refusal | null {
  if (!(error instanceof RagPlusPlusError) || !Object.hasOwn(STATUS_OF_CODE, error.code)) return null;
  const { code, message } = error;
  return { status: STATUS_OF_CODE[code] as number, body: { code, reason: code.toLowerCase(), message } };
}

/** The answers of a memory that are no success. */
export const memoryRefusals = new Refusals(
  { name: 'memory', paths: 'a path of GET /v1/openapi.json', page: 'docs/serve.md' },
  describeOwn,
);
