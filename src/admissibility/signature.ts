import { createHmac, createPrivateKey, type KeyObject, sign, timingSafeEqual, verify } from 'node:crypto';
import { computeHash } from '../core/hash.ts';
import { formatCanonicalJson } from './canonical-json.ts';
import { computeFingerprint } from './fingerprint.ts';
import type { KernelKey } from './kernel-keys.ts';
import type { SliceExport, SlicePayload } from './slice-export.ts';

/** HMAC-SHA256 of a text in hex. */
export function computeHmac(text: string, secret: Uint8Array): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

/** The secrets of a key, read once: they sign and check slices. */
export class Signer {
  readonly keyId: string;
  readonly #secret: Uint8Array;
  readonly #privateKey: KeyObject;

  constructor({ keyId, secret, privateKey }: KernelKey) {
    this.keyId = keyId;
    this.#secret = Buffer.from(secret, 'hex');
    this.#privateKey = createPrivateKey(privateKey);
  }

  sign(payload: SlicePayload): SliceExport {
    const text = formatCanonicalJson(payload);
    return {
      ...payload,
      fingerprint: computeFingerprint(payload.turnIds),
      admissibilityToken: computeHmac(text, this.#secret),
      signature: sign(null, Buffer.from(text), this.#privateKey).toString('hex'),
    };
  }

  /** Whether this key made the token of a slice; compared in constant time. */
  hasMade(slice: SliceExport): boolean {
    const expected = computeHmac(formatCanonicalJson(readPayload(slice)), this.#secret);
    const [a, b] = [expected, slice.admissibilityToken].map((digits) => Buffer.from(digits, 'hex')) as [Buffer, Buffer];
    return a.length === b.length && timingSafeEqual(a, b);
  }
}

/** What the signatures of a slice bind. */
export function readPayload(slice: SliceExport): SlicePayload {
  const { fingerprint: _f, admissibilityToken: _t, signature: _s, ...payload } = slice;
  return payload;
}

/** SHA-256 of what the signatures of a slice bind, in hex: the link of a chain. */
export function computeLink(slice: SliceExport): string {
  return computeHash(formatCanonicalJson(readPayload(slice)));
}

/** Whether the Ed25519 signature of a slice is that of a public key. */
export function isSignedBy(slice: SliceExport, publicKey: KeyObject): boolean {
  return verify(
    null,
    Buffer.from(formatCanonicalJson(readPayload(slice))),
    publicKey,
    Buffer.from(slice.signature, 'hex'),
  );
}
