import { createPublicKey, type KeyObject } from 'node:crypto';

/** Before the 32 bytes of an Ed25519 key in SubjectPublicKeyInfo. Source: rfc8410. */
export const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** @param raw 32 bytes in hex. */
export function readPublicKey(raw: string): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI, Buffer.from(raw, 'hex')]), format: 'der', type: 'spki' });
}
