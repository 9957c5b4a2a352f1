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
