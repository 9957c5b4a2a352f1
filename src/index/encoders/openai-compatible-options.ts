import { z } from 'zod';
import { endpointAddress, trimSlash } from '../../core/service/chat-options.ts';
import type { EncoderDefinition } from './encoder-definition.ts';

const options = z.strictObject({
  encoder: z.literal('openai-compatible'),
  /** The address before `/embeddings`. */
  baseUrl: endpointAddress,
  model: z.string().min(1),
  /** Of the vectors that come; another one is an error. */
  dimension: z.int().min(1),
  /** True if the request asks for this dimension. */
  sendDimension: z.boolean().default(false),
  /** The environment variable that holds the key; null to send none. */
  apiKeyVariable: z.string().min(1).nullable().default(null),
  queryPrompt: z.string().default(''),
  passagePrompt: z.string().default(''),
  batchSize: z.int().min(1).default(64),
  maxAttempts: z.int().min(1).default(6),
  /** Before the second attempt; doubles from attempt to attempt. */
  pauseSeconds: z.number().min(0).default(1),
  timeoutSeconds: z.number().positive().default(60),
  pricePerMillionTokens: z.number().min(0).nullable().default(null),
});
/** A service that answers `POST /embeddings`, with every default written out. */
export type OpenAiCompatibleOptions = z.output<typeof options>;

/** Neither batches, attempts, times, key nor price affect a vector. */
export function openAiCompatibleIdentity(given: OpenAiCompatibleOptions): Record<string, unknown> {
  const { baseUrl, model, dimension, sendDimension, queryPrompt, passagePrompt } = given;
  return {
    encoder: 'openai-compatible',
    version: 1,
    baseUrl: trimSlash(baseUrl),
    model,
    dimension,
    sendDimension,
    queryPrompt,
    passagePrompt,
  };
}

export const openAiCompatible: EncoderDefinition<typeof options> = {
  options,
  description: 'a service with the interface of OpenAI, by POST to /embeddings; reports tokens and their price',
  identity: openAiCompatibleIdentity,
  dependsOn: ({ queryPrompt, passagePrompt }) => (queryPrompt === passagePrompt ? 'text' : 'kind'),
};
