import { z } from 'zod';
import { endpointAddress } from '../../embedding/openai-compatible-options.ts';

/** The options of a judge behind a service with the interface of OpenAI. */
export const endpointJudgeOptions = z.strictObject({
  /** The address before `/chat/completions`. */
  baseUrl: endpointAddress,
  /** Also the name of the judge. */
  model: z.string().min(1),
  /** The environment variable that holds the key; null to send none. */
  apiKeyVariable: z.string().min(1).nullable().default(null),
  /** Documents of one query in a request. */
  batchSize: z.int().min(1).default(8),
  maxAttempts: z.int().min(1).default(6),
  /** Before the second attempt; doubles from attempt to attempt. */
  pauseSeconds: z.number().min(0).default(1),
  timeoutSeconds: z.number().positive().default(120),
  pricePerMillionTokens: z.number().min(0).nullable().default(null),
});

/** A service that answers `POST /chat/completions`, with every default written out. */
export type EndpointJudgeOptions = z.output<typeof endpointJudgeOptions>;
