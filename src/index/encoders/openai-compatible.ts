import { z } from 'zod';
import { phrase, stateShown } from '../../core/display/display.ts';
import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import {
  createEndpoint,
  createEndpointError,
  type Endpoint,
  requestEndpoint,
} from '../../core/service/endpoint-request.ts';
import { joinSendable, type SendableText, stateOwnText } from '../../core/service/sendable-text.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { check } from '../../core/validation/validation.ts';
import type { EncodeOptions, Encoder, EncoderUse } from '../../model/encoder.ts';
import { assertOneOwnerEach, assertTextsSendable, type CreateEncoder, scaleRowsToUnit } from './encoder-definition.ts';
import { type OpenAiCompatibleOptions, openAiCompatibleIdentity } from './encoder-options.ts';

const answer = z.looseObject({
  data: z.array(z.looseObject({ index: z.int().min(0), embedding: z.array(z.number()) })),
  usage: z.looseObject({ prompt_tokens: z.int().min(0).nullish(), total_tokens: z.int().min(0).nullish() }).nullish(),
});

/** The fields of every request for vectors. */
export interface EmbeddingOptions {
  /** Dimension of the vectors of the answer; another one is an error. */
  readonly dimension: number;
  /** True if the request asks for this dimension. */
  readonly sendDimension: boolean;
}

/**
 * Asks a service for the vectors of texts by POST to its path `/embeddings`, see {@link requestEndpoint}.
 *
 * @returns row-major [texts.length, dimension], in the order of the texts
 * @throws UnavailableError as {@link requestEndpoint} does, and for an answer of another form; DimensionMismatchError
 *   for vectors of another dimension; the
 * reason of the signal.
 */
async function requestEmbeddings(
  texts: readonly SendableText[],
  { dimension, sendDimension }: EmbeddingOptions,
  endpoint: Endpoint,
): Promise<Float32Array> {
  const body = {
    model: stateOwnText(endpoint.options.model),
    input: texts,
    encoding_format: stateOwnText('float'),
    ...(sendDimension ? { dimensions: dimension } : {}),
  };
  return requestEndpoint(body, endpoint, (received) => readVectors(received, texts.length, dimension, endpoint));
}

function readVectors(body: unknown, count: number, dimension: number, endpoint: Endpoint): Float32Array {
  const checked = check(answer, body);
  if ('faults' in checked) {
    const [{ path, expected }] = checked.faults as [(typeof checked.faults)[number]];
    const reason = phrase`the answer has no embeddings: ${stateShown(path)}: expected ${stateShown(expected)}`;
    throw createEndpointError(endpoint, reason, 'check baseUrl and model');
  }
  const { data, usage } = checked.value;
  endpoint.ledger.addRequest(count, usage?.total_tokens ?? usage?.prompt_tokens ?? null);
  return orderVectors(data, count, dimension, endpoint);
}

function orderVectors(
  data: z.output<typeof answer>['data'],
  count: number,
  dimension: number,
  endpoint: Endpoint,
): Float32Array {
  const rows = new Float32Array(count * dimension);
  const seen = new Set<number>();
  for (const { index, embedding } of data) {
    if (embedding.length !== dimension)
      throw new DimensionMismatchError(
        `vectors of ${endpoint.options.model}`,
        dimension,
        embedding.length,
        `set dimension: ${embedding.length}`,
      );
    if (index >= count) continue;
    seen.add(index);
    rows.set(embedding, index * dimension);
    const wrong = embedding.find((value) => !Number.isFinite(Math.fround(value)));
    if (wrong !== undefined)
      throw createEndpointError(endpoint, phrase`a vector has a number beyond float32: ${wrong}`, 'use another model');
  }
  if (seen.size === count && data.length === count) return rows;
  const reason = phrase`the answer has ${data.length} vectors for ${seen.size} of ${count} texts`;
  throw createEndpointError(endpoint, reason, 'lower batchSize, or use another service');
}

/** An encoder that counts what it has used. */
export interface EndpointEncoder extends Encoder {
  readUse(): EncoderUse;
  describeUse(): string;
}

/**
 * Asks a service with the interface of OpenAI for vectors, a batch of texts a request. Vectors are scaled to length 1;
 * an empty text is not sent and has a zero vector. Refuses every text if one is sensitive. See {@link requestEmbeddings} for retries.
 *
 * @throws UnavailableError when the environment variable of the key is not set; ValidationError for a key that no header can hold.
 */
export function openEndpoint(options: OpenAiCompatibleOptions): EndpointEncoder {
  return new ServiceEncoder(options, createEndpoint('encoder openai-compatible', '/embeddings', options));
}

/** {@link openEndpoint} as the registry calls it. */
export const createOpenAiCompatible: CreateEncoder<OpenAiCompatibleOptions> = async (options) => openEndpoint(options);

class ServiceEncoder implements EndpointEncoder {
  readonly name = 'openai-compatible';
  readonly isRemote = true;
  readonly dimension: number;
  readonly identity: Readonly<Record<string, unknown>>;
  readonly #options: OpenAiCompatibleOptions;
  readonly #endpoint: Endpoint;
  #disposed = false;

  constructor(options: OpenAiCompatibleOptions, endpoint: Endpoint) {
    this.dimension = options.dimension;
    this.identity = openAiCompatibleIdentity(options);
    this.#options = options;
    this.#endpoint = endpoint;
  }

  async encode(
    texts: readonly string[],
    progress: StartProgress = ignoreProgress,
    { owners, signal }: EncodeOptions = {},
  ): Promise<Float32Array> {
    assertOneOwnerEach(texts, owners);
    const gated = assertTextsSendable(texts, owners, 'encoder openai-compatible');
    const [query, passage] = [stateOwnText(this.#options.queryPrompt), stateOwnText(this.#options.passagePrompt)];
    const { batchSize } = this.#options;
    const rows = new Float32Array(texts.length * this.dimension);
    const sent = [...texts.keys()].filter((i) => (texts[i] as string).trim() !== '');
    const stage = progress(`ask ${this.#options.model}`, texts.length);
    for (let start = 0; start < sent.length; start += batchSize) {
      if (this.#disposed) throw new ValidationError('encoder was disposed: openai-compatible; load a new encoder');
      const batch = sent.slice(start, start + batchSize);
      const prompted = batch.map((i) =>
        joinSendable(owners?.[i]?.kind === 'query' ? query : passage, gated[i] as SendableText),
      );
      const vectors = await requestEmbeddings(prompted, this.#options, { ...this.#endpoint, signal });
      for (const [row, i] of batch.entries())
        rows.set(vectors.subarray(row * this.dimension, (row + 1) * this.dimension), i * this.dimension);
      stage.update(start + batch.length);
    }
    scaleRowsToUnit(rows, this.dimension);
    stage.finish(this.describeUse());
    return rows;
  }

  readUse(): EncoderUse {
    return this.#endpoint.ledger.read();
  }

  describeUse(): string {
    return this.#endpoint.ledger.describe();
  }

  dispose(): void {
    this.#disposed = true;
  }
}
