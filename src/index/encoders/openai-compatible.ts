import { ValidationError } from '../../core/errors/errors.ts';
import { createEndpoint, type Endpoint } from '../../core/service/endpoint-request.ts';
import { joinSendable, type SendableText, stateOwnText } from '../../core/service/sendable-text.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { EncodeOptions, Encoder, EncoderUse } from '../../model/encoder.ts';
import { requestEmbeddings } from './embedding-request.ts';
import type { CreateEncoder } from './encoder-definition.ts';
import { type OpenAiCompatibleOptions, openAiCompatibleIdentity } from './openai-compatible-options.ts';
import { assertOneOwnerEach, assertTextsSendable } from './sensitive-texts.ts';
import { scaleRowsToUnit } from './unit-rows.ts';

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
