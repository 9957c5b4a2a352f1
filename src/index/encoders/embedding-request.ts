import { z } from 'zod';
import { phrase, stateShown } from '../../core/display/showable-text.ts';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { createEndpointError, type Endpoint, requestEndpoint } from '../../core/service/endpoint-request.ts';
import { type SendableText, stateOwnText } from '../../core/service/sendable-text.ts';
import { check } from '../../core/validation/validation.ts';

const answer = z.looseObject({
  data: z.array(z.looseObject({ index: z.int().min(0), embedding: z.array(z.number()) })),
  usage: z.looseObject({ prompt_tokens: z.int().min(0).nullish(), total_tokens: z.int().min(0).nullish() }).nullish(),
});

/** What every request for vectors has. */
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
 * @throws UnavailableError as {@link requestEndpoint} does, and for an answer of another form; DimensionMismatchError for vectors of another dimension; the
 * reason of the signal.
 */
export async function requestEmbeddings(
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
