import { z } from 'zod';
import { endpointAddress } from './endpoint-address.ts';

/** The keys that the options of every model behind `/chat/completions` have. */
export const chatServiceKeys = {
  /** The address before `/chat/completions`. */
  baseUrl: endpointAddress,
  model: z.string().min(1),
  /** The environment variable that holds the key; null to send none. */
  apiKeyVariable: z.string().min(1).nullable().default(null),
  maxAttempts: z.int().min(1).default(6),
  /** Before the second attempt; doubles from attempt to attempt. */
  pauseSeconds: z.number().min(0).default(1),
  timeoutSeconds: z.number().positive().default(120),
  pricePerMillionTokens: z.number().min(0).nullable().default(null),
};
