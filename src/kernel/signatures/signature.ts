import {
  createHmac,
  createPrivateKey,
  createPublicKey,
  type KeyObject,
  sign,
  timingSafeEqual,
  verify,
} from 'node:crypto';
import { computeHash } from '../../core/hash/hash.ts';
import { formatCanonicalJson } from './canonical-json.ts';
import { computeFingerprint } from './fingerprint.ts';
import type { KernelKey } from './kernel-keys.ts';
import type { SliceExport, SlicePayload } from './slice-export.ts';

/** HMAC-SHA256 of a text in hex. */
export function computeHmac(text: string, secret: Uint8Array): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

/**
 * The canonical JSON of a payload or an export from that of its ids, which are most of it and are written once. `turnIds` is the last of its keys.
 *
 * @param ids the canonical JSON of `turnIds`.
 */
export function formatWithIds(value: SlicePayload | Omit<SliceExport, 'signature'>, ids: string): string {
  const text = formatCanonicalJson({ ...value, turnIds: [] });
  return `${text.slice(0, -'[]}'.length)}${ids}}`;
}

/** The secrets of a key, read once: they sign and check slices. */
export class Signer {
  readonly keyId: string;
  readonly #secret: Uint8Array;
  readonly #privateKey: KeyObject;
  readonly #publicKey: KeyObject;

  constructor({ keyId, secret, privateKey }: KernelKey) {
    this.keyId = keyId;
    this.#secret = Buffer.from(secret, 'hex');
    this.#privateKey = createPrivateKey(privateKey);
    this.#publicKey = createPublicKey(this.#privateKey);
  }

  sign(payload: SlicePayload): SliceExport {
    const ids = formatCanonicalJson(payload.turnIds);
    const sealed = {
      ...payload,
      fingerprint: computeFingerprint(payload.turnIds, ids),
      admissibilityToken: computeHmac(formatWithIds(payload, ids), this.#secret),
    };
    const text = formatWithIds(sealed, ids);
    return { ...sealed, signature: sign(null, Buffer.from(text), this.#privateKey).toString('hex') };
  }

  /** True if this key made the token of a slice, compared in constant time, and its signature. */
  hasMade(slice: SliceExport): boolean {
    return this.#hasMadeToken(slice) && isSignedBy(slice, this.#publicKey);
  }

  #hasMadeToken(slice: SliceExport): boolean {
    const expected = computeHmac(formatCanonicalJson(readPayload(slice)), this.#secret);
    const [a, b] = [expected, slice.admissibilityToken].map((digits) => Buffer.from(digits, 'hex')) as [Buffer, Buffer];
    return a.length === b.length && timingSafeEqual(a, b);
  }
}

/** What the token of a slice binds, and its signature besides the token and the fingerprint. */
export function readPayload(slice: SliceExport): SlicePayload {
  const { fingerprint: _f, admissibilityToken: _t, signature: _s, ...payload } = slice;
  return payload;
}

/** SHA-256 of the canonical payload of a slice, in hex: the link of a chain. */
export function computeLink(slice: SliceExport): string {
  return computeHash(formatCanonicalJson(readPayload(slice)));
}

/**
 * Whether the Ed25519 signature of a slice is that of a public key: it binds every other field, the token of the kernel among them.
 *
 * @param ids the canonical JSON of the ids, where it is known.
 */
export function isSignedBy(
  { signature, ...sealed }: SliceExport,
  publicKey: KeyObject,
  ids: string = formatCanonicalJson(sealed.turnIds),
): boolean {
  return verify(null, Buffer.from(formatWithIds(sealed, ids)), publicKey, Buffer.from(signature, 'hex'));
}
