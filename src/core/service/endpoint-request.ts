import { setTimeout as pause } from 'node:timers/promises';
import { phrase, type ShowableText, stateShown } from '../display/display.ts';
import { UnavailableError } from '../errors/errors.ts';
import { once } from '../values/once.ts';
import { trimSlash } from './chat-options.ts';
import { BodyTooLargeError, type HttpAnswer, HttpConnection } from './http-connection.ts';
import { assertHeaderText, type Sendable } from './sendable-text.ts';

/** A longer pause that the service asks for is shortened to this. */
const LONGEST_PAUSE_SECONDS = 60;

/** The fault of an attempt that may be repeated. */
export class PassingFault extends Error {
  /** The pause before the next attempt that the service asks for. */
  readonly pauseSeconds: number;
  override readonly message: ShowableText;

  /** @param cause the error of the whole, if this attempt is the last. */
  constructor(message: ShowableText, { pauseSeconds = 0, cause }: { pauseSeconds?: number; cause?: Error } = {}) {
    super(message, { cause });
    this.message = message;
    this.pauseSeconds = pauseSeconds;
  }
}

/** Numbers and delays of repeated attempts. */
interface AttemptOptions {
  readonly maxAttempts: number;
  /** Before the second attempt; doubles from attempt to attempt. */
  readonly pauseSeconds: number;
}

/**
 * Repeats an attempt that ends in a {@link PassingFault}. The pause doubles from attempt to attempt; a longer one of
 * the fault is kept, up to a minute.
 *
 * @param giveUp the error of the last attempt, from its fault.
 * @throws what the attempt throws; the error of `giveUp`; the reason of the signal.
 */
export async function repeatAttempts<T>(
  attempt: () => Promise<T>,
  { maxAttempts, pauseSeconds }: AttemptOptions,
  giveUp: (fault: PassingFault, attempts: number) => Error,
  { signal, onRetry }: { readonly signal?: AbortSignal | undefined; readonly onRetry?: () => void } = {},
): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof PassingFault)) throw error;
      if (attempts === maxAttempts) throw giveUp(error, attempts);
      onRetry?.();
      const seconds = Math.max(pauseSeconds * 2 ** (attempts - 1), error.pauseSeconds);
      const milliseconds = 1000 * Math.min(seconds, LONGEST_PAUSE_SECONDS);
      await pause(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  }
}

/** Use of a service by all calls together. */
export interface ServiceUse {
  /** The model's name at the service. */
  readonly model: string;
  /** Texts of answered requests. */
  readonly texts: number;
  /** Answered requests. */
  readonly requests: number;
  /** Attempts that failed and were repeated. */
  readonly retries: number;
  /** Tokens as the service counts them. */
  readonly tokens: number;
  /** Answered requests without a count of tokens. */
  readonly uncounted: number;
  /** In the currency of the price; null without a price. */
  readonly cost: number | null;
}

/** Counts requests, tokens and their price. */
export class EndpointLedger {
  readonly #model: string;
  readonly #price: number | null;
  #texts = 0;
  #requests = 0;
  #retries = 0;
  #tokens = 0;
  #uncounted = 0;

  /** @param pricePerMillionTokens null if unknown */
  constructor(model: string, pricePerMillionTokens: number | null) {
    this.#model = model;
    this.#price = pricePerMillionTokens;
  }

  /** @param tokens null if the service did not count them */
  addRequest(texts: number, tokens: number | null): void {
    this.#texts += texts;
    this.#requests++;
    if (tokens === null) this.#uncounted++;
    else this.#tokens += tokens;
  }

  addRetry(): void {
    this.#retries++;
  }

  read(): ServiceUse {
    return {
      model: this.#model,
      texts: this.#texts,
      requests: this.#requests,
      retries: this.#retries,
      tokens: this.#tokens,
      uncounted: this.#uncounted,
      cost: this.#price === null ? null : (this.#tokens / 1e6) * this.#price,
    };
  }

  /** `12 requests, 1 retries, 5231 tokens, cost 0.000105 at 0.02 per million tokens` */
  describe(): string {
    const { requests, retries, tokens, uncounted, cost } = this.read();
    return [
      `${requests} requests`,
      ...(retries === 0 ? [] : [`${retries} retries`]),
      `${tokens} tokens`,
      ...(uncounted === 0 ? [] : [`${uncounted} requests without a count of tokens`]),
      ...(cost === null ? [] : [`cost ${Number(cost.toPrecision(3))} at ${this.#price} per million tokens`]),
    ].join(', ');
  }
}

/**
 * The key of a service; null without a variable.
 *
 * @param user what asks, as errors name it.
 * @throws UnavailableError if the variable is not set; ValidationError for a key that no header can hold.
 */
function readApiKey(variable: string | null, user: string): string | null {
  if (variable === null) return null;
  const key = process.env[variable]?.trim(); // a line break of a file of secrets; fetch quotes an invalid header
  if (key !== undefined && key !== '') return assertHeaderText(key, variable);
  throw new UnavailableError(
    user,
    `the environment variable ${variable} is not set; export the key, or set apiKeyVariable: null`,
  );
}

/** Bytes of an answer: some 3,000 vectors of 4,096 numbers as text. */
const LARGEST_ANSWER = 2 ** 28;

const connection = once(() => new HttpConnection());

/** The options of every service with the interface of OpenAI. */
export interface EndpointOptions extends AttemptOptions {
  readonly baseUrl: string;
  readonly model: string;
  /** The environment variable that holds the key; null to send none. */
  readonly apiKeyVariable: string | null;
  /** Of one attempt. */
  readonly timeoutSeconds: number;
  readonly pricePerMillionTokens: number | null;
}

/** A service with the interface of OpenAI and one of its paths. */
export interface Endpoint {
  /** What asks, as errors name it. */
  readonly user: string;
  /** After the address, such as `/embeddings`. */
  readonly path: string;
  readonly options: EndpointOptions;
  /** Sent, and never part of a message. */
  readonly apiKey: string | null;
  readonly ledger: EndpointLedger;
  readonly signal?: AbortSignal | undefined;
}

/** @throws UnavailableError when the environment variable of the key is not set; ValidationError for a key that no header can hold. */
export function createEndpoint(
  user: string,
  path: string,
  options: EndpointOptions,
  signal?: AbortSignal | undefined,
): Endpoint {
  const ledger = new EndpointLedger(options.model, options.pricePerMillionTokens);
  return { user, path, options, apiKey: readApiKey(options.apiKeyVariable, user), ledger, signal };
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
  return repeatAttempts(
    async () => read(await post(body, endpoint)),
    options,
    ({ message }, attempts) =>
      createEndpointError(endpoint, phrase`${message}, after ${attempts} attempts`, 'try again later'),
    { signal, onRetry: () => ledger.addRetry() },
  );
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
  let answer: HttpAnswer;
  try {
    answer = await connection().send(`${trimSlash(baseUrl)}${path}`, {
      text: JSON.stringify(body),
      headers: apiKey === null ? {} : { authorization: `Bearer ${apiKey}` },
      mostBytes: LARGEST_ANSWER,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
  } catch (error) {
    if (error instanceof BodyTooLargeError)
      throw createEndpointError(endpoint, stateShown(error.message), 'check baseUrl, or lower batchSize');
    if (timeout.aborted) throw new PassingFault(phrase`no answer within ${timeoutSeconds} s`);
    throw new PassingFault(stateShown((error as Error).message));
  }
  const { status, headers, text } = answer;
  if (status === 200) return parseBody(text, endpoint);
  const fault = phrase`status ${status}: ${describeAnswer(text)}`;
  if (status === 408 || status === 429 || status >= 500)
    throw new PassingFault(fault, { pauseSeconds: parseRetryAfter(headers) });
  throw createEndpointError(endpoint, fault, 'check baseUrl, model and apiKeyVariable');
}

/** Seconds to wait, of a number or a date after that of the answer; 0 without either. RFC 9110, 10.2.3. */
function parseRetryAfter(headers: HttpAnswer['headers']): number {
  const value = headers['retry-after'] ?? '';
  const [until, sent] = [value, headers.date ?? ''].map((date) => Date.parse(date));
  const seconds =
    value === '' || !Number.isNaN(Number(value)) ? Number(value) : ((until as number) - (sent as number)) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}

function parseBody(text: string, endpoint: Endpoint): unknown {
  const parsed = parseJson(text);
  if (parsed !== undefined) return parsed;
  throw createEndpointError(endpoint, phrase`the answer is not JSON: ${describeAnswer(text)}`, 'check baseUrl');
}
