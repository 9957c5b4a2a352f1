import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { DimensionMismatchError, UnavailableError } from '../../core/errors.ts';
import { check } from '../../core/validation.ts';
import { type OpenAiCompatibleOptions, trimSlash } from '../openai-compatible-options.ts';
import type { EndpointLedger } from './endpoint-ledger.ts';

/** A longer pause that the service asks for is shortened to this. */
const LONGEST_PAUSE_SECONDS = 60;
/** Characters of an answer that a message quotes. */
const QUOTED = 200;

const answer = z.looseObject({
  data: z.array(z.looseObject({ index: z.int().min(0), embedding: z.array(z.number()) })),
  usage: z.looseObject({ prompt_tokens: z.int().min(0).nullish(), total_tokens: z.int().min(0).nullish() }).nullish(),
});

/** An attempt that may be repeated. */
class PassingFault extends Error {
  /** As the service asks for it. */
  readonly pauseSeconds: number;

  constructor(message: string, pauseSeconds = 0) {
    super(message);
    this.pauseSeconds = pauseSeconds;
  }
}

/** The texts of a request, and what it needs besides the options. */
export interface EmbeddingRequest {
  readonly options: OpenAiCompatibleOptions;
  /** Sent, and never part of a message. */
  readonly apiKey: string | null;
  readonly ledger: EndpointLedger;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Asks a service for the vectors of texts by POST to `<baseUrl>/embeddings`. Repeats an attempt that ends in status 408,
 * 429 or 5xx, without an answer or after the timeout. The pause doubles from attempt to attempt; a longer one in
 * `Retry-After` is kept.
 *
 * @returns row-major [texts.length, dimension], in the order of the texts
 * @throws UnavailableError for another status, for the last attempt and for an answer of another form;
 * DimensionMismatchError for vectors of another dimension; the reason of the signal.
 */
export async function requestEmbeddings(texts: readonly string[], request: EmbeddingRequest): Promise<Float32Array> {
  const { options, ledger, signal } = request;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await attemptRequest(texts, request);
    } catch (error) {
      signal?.throwIfAborted();
      if (!(error instanceof PassingFault)) throw error;
      if (attempt === options.maxAttempts)
        throw createEndpointError(request, `${error.message}, after ${attempt} attempts`, 'try again later');
      ledger.addRetry();
      const seconds = Math.max(options.pauseSeconds * 2 ** (attempt - 1), error.pauseSeconds);
      const milliseconds = 1000 * Math.min(seconds, LONGEST_PAUSE_SECONDS);
      await pause(milliseconds, undefined, signal === undefined ? {} : { signal }).catch(() => {});
    }
  }
}

function createEndpointError({ options, apiKey, ledger }: EmbeddingRequest, reason: string, remedy: string) {
  const text = `${trimSlash(options.baseUrl)}/embeddings: ${reason} (so far ${ledger.describe()}); ${remedy}`;
  return new UnavailableError('encoder openai-compatible', hideKey(text, apiKey));
}

/** A service may repeat the key in its answer, with the escapes of JSON. */
function hideKey(text: string, apiKey: string | null): string {
  if (apiKey === null) return text;
  const letters = Array.from(apiKey, (letter) => {
    const code = letter.charCodeAt(0).toString(16).padStart(4, '0');
    const hex = [...code].map((digit) => `[${digit}${digit.toUpperCase()}]`).join('');
    return `(?:\\\\u${hex}|\\\\?${/\w/.test(letter) ? letter : `\\u${code}`})`;
  });
  return text.replace(new RegExp(letters.join(''), 'g'), '***');
}

async function attemptRequest(texts: readonly string[], request: EmbeddingRequest): Promise<Float32Array> {
  const { ledger } = request;
  const body = await post(texts, request);
  const checked = check(answer, body);
  if ('faults' in checked) {
    const [{ path, expected, got }] = checked.faults as [(typeof checked.faults)[number]];
    const reason = `the answer has no embeddings: ${path}: expected ${expected}, got ${got}`;
    throw createEndpointError(request, reason, 'check baseUrl and model');
  }
  const { data, usage } = checked.value;
  ledger.addRequest(texts.length, usage?.total_tokens ?? usage?.prompt_tokens ?? null);
  return orderVectors(data, texts.length, request);
}

function orderVectors(data: z.output<typeof answer>['data'], count: number, request: EmbeddingRequest): Float32Array {
  const { dimension } = request.options;
  const rows = new Float32Array(count * dimension);
  const seen = new Set<number>();
  for (const { index, embedding } of data) {
    if (embedding.length !== dimension)
      throw new DimensionMismatchError(
        `vectors of ${request.options.model}`,
        dimension,
        embedding.length,
        `set dimension: ${embedding.length}`,
      );
    if (index >= count) continue;
    seen.add(index);
    rows.set(embedding, index * dimension);
    const wrong = embedding.find((value) => !Number.isFinite(Math.fround(value)));
    if (wrong !== undefined)
      throw createEndpointError(request, `a vector has a number beyond float32: ${wrong}`, 'use another model');
  }
  if (seen.size === count && data.length === count) return rows;
  const reason = `the answer has ${data.length} vectors for ${seen.size} of ${count} texts`;
  throw createEndpointError(request, reason, 'lower batchSize, or use another service');
}

/** @returns the body of an answer of status 200, parsed */
async function post(texts: readonly string[], request: EmbeddingRequest): Promise<unknown> {
  const { options, apiKey, signal } = request;
  const { baseUrl, model, dimension, sendDimension, timeoutSeconds } = options;
  const timeout = AbortSignal.timeout(1000 * timeoutSeconds);
  let response: Response;
  let text: string;
  try {
    response = await fetch(`${trimSlash(baseUrl)}/embeddings`, {
      method: 'POST',
      redirect: 'error', // a key belongs to one address
      headers: {
        'content-type': 'application/json',
        ...(apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({
        model,
        input: texts,
        encoding_format: 'float',
        ...(sendDimension ? { dimensions: dimension } : {}),
      }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    text = hideKey(await response.text(), apiKey);
  } catch (error) {
    if (timeout.aborted) throw new PassingFault(`no answer within ${timeoutSeconds} s`);
    const { message, cause } = error as Error;
    throw new PassingFault(cause instanceof Error ? `${message} (${cause.message})` : message);
  }
  if (response.status === 200) return parseBody(text, request);
  const fault = `status ${response.status}: ${text.slice(0, QUOTED).replace(/\s+/g, ' ')}`;
  if (response.status === 408 || response.status === 429 || response.status >= 500)
    throw new PassingFault(fault, parseRetryAfter(response.headers));
  throw createEndpointError(request, fault, 'check baseUrl, model and apiKeyVariable');
}

/** Seconds to wait, of a number or a date after that of the answer; 0 without either. RFC 9110, 10.2.3. */
function parseRetryAfter(headers: Headers): number {
  const value = headers.get('retry-after') ?? '';
  const [until, sent] = [value, headers.get('date') ?? ''].map((date) => Date.parse(date));
  const seconds =
    value === '' || !Number.isNaN(Number(value)) ? Number(value) : ((until as number) - (sent as number)) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : 0;
}

function parseBody(text: string, request: EmbeddingRequest): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw createEndpointError(request, `the answer is not JSON: ${text.slice(0, QUOTED)}`, 'check baseUrl');
  }
}
