import { z } from 'zod';
import type { EncoderDefinition } from './encoder-definition.ts';

/** Of http or https, without a name, a password, a query and a hash: configs are stored. */
function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && !/[?#]/.test(text);
}

/** The address of a service, before the path of a request. */
export const endpointAddress = z
  .string()
  .refine(isPlainUrl, { error: 'an address of http or https without a password, a query or a hash' });

const options = z.strictObject({
  encoder: z.literal('openai-compatible'),
  /** The address before `/embeddings`. */
  baseUrl: endpointAddress,
  model: z.string().min(1),
  /** Of the vectors that come; another one is an error. */
  dimension: z.int().min(1),
  /** Whether the request asks for this dimension. */
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

export function trimSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}

export const openAiCompatible: EncoderDefinition<typeof options> = {
  options,
  description: 'a service with the interface of OpenAI, by POST to /embeddings; reports tokens and their price',
  identity: openAiCompatibleIdentity,
  dependsOn: ({ queryPrompt, passagePrompt }) => (queryPrompt === passagePrompt ? 'text' : 'kind'),
};
