import { derivePublicKey, type KeyRing } from '../../../kernel/signatures/kernel-keys.ts';
import { alignColumns } from '../../process/columns.ts';

/** The public part of keys, a line each. */
export function formatKeys({ keys }: KeyRing): string {
  const rows = keys.map(({ keyId, state, privateKey }) => [keyId, state, derivePublicKey(privateKey)]);
  return `${alignColumns([['key', 'state', 'public key'], ...rows])}\n`;
}
