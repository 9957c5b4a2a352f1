import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { SPKI } from './public-key.ts';

const hex32 = z.string().regex(/^[0-9a-f]{64}$/, '32 bytes in hex');

/** A key of a kernel as its file holds it. The one `signing` key signs; `verifying` keys are accepted until they are retired. */
export const kernelKeySchema = z.strictObject({
  keyId: z.string().regex(/^[0-9a-f]{16}$/, '8 bytes in hex'),
  state: z.enum(['signing', 'verifying', 'retired']),
  /** Of HMAC-SHA256, 32 bytes. */
  secret: hex32,
  /** Ed25519 in PKCS#8. */
  privateKey: z.string().startsWith('-----BEGIN PRIVATE KEY-----'),
});

/** A key of a kernel, with its secrets: see {@link generateKey}. */
export type KernelKey = z.output<typeof kernelKeySchema>;

export const keyRingSchema = z.strictObject({ keys: z.array(kernelKeySchema).min(1) });

/** All keys of a kernel. */
export type KeyRing = z.output<typeof keyRingSchema>;

/** A public key as a client pins it: the 32 raw bytes in hex. */
export const publicKeySchema = hex32;

/** The 32 raw bytes of the public key in hex. @param privateKey in PKCS#8. */
export function derivePublicKey(privateKey: string): string {
  const key = createPublicKey(createPrivateKey(privateKey));
  return key.export({ format: 'der', type: 'spki' }).subarray(SPKI.length).toString('hex');
}

/** The id of a key: the first 8 bytes of the SHA-256 of its public key, in hex. */
export function computeKeyId(publicKey: string): string {
  return createHash('sha256').update(Buffer.from(publicKey, 'hex')).digest('hex').slice(0, 16);
}

/** A new key that signs, from the system's source of random bytes. */
export function generateKey(): KernelKey {
  const made = generateKeyPairSync('ed25519');
  const privateKey = made.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string;
  return {
    keyId: computeKeyId(derivePublicKey(privateKey)),
    state: 'signing',
    secret: randomBytes(32).toString('hex'),
    privateKey,
  };
}

/** A ring with a new key that signs: the one before verifies until the next rotation, which retires it. */
export function rotateKeys(ring: KeyRing): KeyRing {
  const next = { signing: 'verifying', verifying: 'retired', retired: 'retired' } as const;
  return { keys: [generateKey(), ...ring.keys.map((key) => ({ ...key, state: next[key.state] }))] };
}

/** @throws ValidationError unless one key signs, every id fits its key, and no id is there twice. */
export function assertKeyRing({ keys }: KeyRing): void {
  const signing = keys.filter(({ state }) => state === 'signing').length;
  if (signing !== 1)
    throw new ValidationError(`one key signs: ${signing} of ${keys.length} do; set state of one key to signing`, {});
  for (const { keyId, privateKey } of keys)
    if (computeKeyId(derivePublicKey(privateKey)) !== keyId)
      throw new ValidationError(`key has another id than its public key gives: ${keyId}; make a new key`, { keyId });
  if (new Set(keys.map(({ keyId }) => keyId)).size < keys.length)
    throw new ValidationError('two keys have one id; remove one of them', {});
}
