import { setTimeout as pause } from 'node:timers/promises';
import { phrase, type ShowableText, stateShown } from '../display/showable-text.ts';
import { UnavailableError } from '../errors/errors.ts';
import { trimSlash } from './endpoint-address.ts';
import type { EndpointLedger } from './endpoint-ledger.ts';
import { BodyTooLargeError, readLimitedText } from './limited-body.ts';
import type { Sendable } from './sendable-text.ts';

/** A longer pause that the service asks for is shortened to this. */
const LONGEST_PAUSE_SECONDS = 60;

/** Bytes of an answer: some 3,000 vectors of 4,096 numbers as text. */
const LARGEST_ANSWER = 2 ** 28;

/** An attempt that may be repeated. */
export class PassingFault extends Error {
  /** As the service asks for it. */
  readonly pauseSeconds: number;
  override readonly message: ShowableText;

  constructor(message: ShowableText, pauseSeconds = 0) {
    super(message);
    this.message = message;
    this.pauseSeconds = pauseSeconds;
  }
}

/** A service with the interface of OpenAI, one of its paths, and how attempts are repeated. */
export interface Endpoint {
  /** What asks, as errors name it. */
  readonly user: string;
  /** After the address, such as `/embeddings`. */
  readonly path: string;
  readonly options: {
    readonly baseUrl: string;
    readonly maxAttempts: number;
    /** Before the second attempt; doubles from attempt to attempt. */
    readonly pauseSeconds: number;
    readonly timeoutSeconds: number;
  };
  /** Sent, and never part of a message. */
  readonly apiKey: string | null;
  readonly ledger: EndpointLedger;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks a service by POST to `<baseUrl><path>`. Repeats an attempt that ends in status 408, 429 or 5xx, without an answer, after the timeout, or in a
 * {@link PassingFault} of `read`. The pause doubles from attempt to attempt; a longer one in `Retry-After` is kept.
 *
 * @param body texts of data in it passed the gate for sensitive texts.
 * @param read checks the parsed body of an answer of status 200.
 * @throws UnavailableError for another status, for the last attempt, and for an answer that is not JSON or too large;
 * what `read` throws; the reason of the signal.
 */
export async function requestEndpoint<T>(body: Sendable, endpoint: Endpoint, read: (answer: unknown) => T): Promise<T> {
  const { options, ledger, signal } = endpoint;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return read(await post(body, endpoint));
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof PassingFault)) throw error;
      if (attempt === options.maxAttempts)
        throw createEndpointError(endpoint, phrase`${error.message}, after ${attempt} attempts`, 'try again later');
      ledger.addRetry();
      const seconds = Math.max(options.pauseSeconds * 2 ** (attempt - 1), error.pauseSeconds);
      const milliseconds = 1000 * Math.min(seconds, LONGEST_PAUSE_SECONDS);
      await pause(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  }
}

/** The error of a service, with what was used of it and without the key. */
export function createEndpointError(endpoint: Endpoint, reason: ShowableText, remedy: string): UnavailableError {
  const { user, path, options, apiKey, ledger } = endpoint;
  const text = `${trimSlash(options.baseUrl)}${path}: ${reason} (so far ${ledger.describe()}); ${remedy}`;
  return new UnavailableError(user, apiKey === null ? text : text.replaceAll(apiKey, '***'));
}

/** Names of errors that services give, by which a message may tell one refusal from another. */
const ERROR_NAMES: ReadonlySet<unknown> = new Set([
  ...['context_length_exceeded', 'insufficient_quota', 'invalid_api_key', 'invalid_request_error', 'model_not_found'],
  ...['rate_limit_exceeded', 'server_error', 'unsupported_parameter', 'unsupported_value'],
]);

/**
 * An answer as messages name it: its length, and the name of its error if this is a known one. It is not quoted, since
 * it may repeat what was sent.
 */
export function describeAnswer(text: string): ShowableText {
  const length = phrase`an answer of ${text.length} characters`;
  const error = parseJson(text)?.error as { readonly code?: unknown; readonly type?: unknown } | null | undefined;
  const name = [error?.code, error?.type].find((given) => ERROR_NAMES.has(given));
  return name === undefined ? length : phrase`${stateShown(String(name))}, ${length}`;
}

function parseJson(text: string): { readonly error?: unknown } | null | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** @returns the body of an answer of status 200, parsed */
async function post(body: Sendable, endpoint: Endpoint): Promise<unknown> {
  const { path, options, apiKey, signal } = endpoint;
  const { baseUrl, timeoutSeconds } = options;
  const timeout = AbortSignal.timeout(1000 * timeoutSeconds);
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${trimSlash(baseUrl)}${path}`, {
      method: 'POST',
      redirect: 'error', // a key belongs to one address
      headers: {
        'content-type': 'application/json',
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    text = await readLimitedText(response, LARGEST_ANSWER);
  } catch (error) {
    if (error instanceof BodyTooLargeError)
      throw createEndpointError(endpoint, stateShown(error.message), 'check baseUrl, or lower batchSize');
    if (timeout.aborted) throw new PassingFault(phrase`no answer within ${timeoutSeconds} s`);
    const { message, cause } = error as Error;
    throw new PassingFault(stateShown(cause instanceof Error ? `${message} (${cause.message})` : message));
  }
  if (response.status === 200) return parseBody(text, endpoint);
  const fault = phrase`status ${response.status}: ${describeAnswer(text)}`;
  if (response.status === 408 || response.status === 429 || response.status >= 500)
    throw new PassingFault(fault, parseRetryAfter(response.headers));
  throw createEndpointError(endpoint, fault, 'check baseUrl, model and apiKeyVariable');
}

/** Seconds to wait, of a number or a date after that of the answer; 0 without either. RFC 9110, 10.2.3. */
function parseRetryAfter(headers: Headers): number {
  const value = headers.get('retry-after') ?? '';
  const [until, sent] = [value, headers.get('date') ?? ''].map((date) => Date.parse(date));
  const seconds =
    value === '' || !Number.isNaN(Number(value)) ? Number(value) : ((until as number) - (sent as number)) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}

function parseBody(text: string, endpoint: Endpoint): unknown {
  const parsed = parseJson(text);
  if (parsed !== undefined) return parsed;
  throw createEndpointError(endpoint, phrase`the answer is not JSON: ${describeAnswer(text)}`, 'check baseUrl');
}
