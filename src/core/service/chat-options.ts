import { z } from 'zod';

/** True of an address of http or https, without a name, a password, a query and a hash: configs are stored. */
function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' && !/[?#]/.test(text);
}

/** The address of a service, before the path of a request. */
export const endpointAddress = z
  .string()
  .refine(isPlainUrl, { error: 'an address of http or https without a password, a query or a hash' });

export function trimSlash(url: string): string {
  return url.endsWith('/') ? url.slice(0, -1) : url;
}

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
