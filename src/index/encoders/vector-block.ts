import { computeHash } from '../../core/hash/hash.ts';

/**
 * The bytes of K vectors and the hashes of their texts:
 *
 * | bytes  | content                                            |
 * | ------ | -------------------------------------------------- |
 * | 8      | `RAGPPVE1`                                         |
 * | 4, 4   | K and the dimension D, little-endian               |
 * | 32     | SHA-256 of the encoder's identity                  |
 * | 32, 32 | SHA-256 of the keys, SHA-256 of the vectors        |
 * | 32     | SHA-256 of the bytes before this field             |
 * | 32 K   | keys                                               |
 * | 4 K D  | vectors, float32, row-major [K, D]                 |
 */
const MAGIC = Buffer.from('RAGPPVE1');
export const HASH_BYTES = 32;
const COUNT_AT = MAGIC.byteLength;
const DIMENSION_AT = COUNT_AT + 4;
const IDENTITY_AT = DIMENSION_AT + 4;
const KEYS_HASH_AT = IDENTITY_AT + HASH_BYTES;
const VECTORS_HASH_AT = KEYS_HASH_AT + HASH_BYTES;
const OWN_HASH_AT = VECTORS_HASH_AT + HASH_BYTES;
export const HEADER_BYTES = OWN_HASH_AT + HASH_BYTES;

/** The fields of the header. Hashes are in hex. */
export interface BlockHeader {
  /** K. */
  readonly count: number;
  /** D. */
  readonly dimension: number;
  readonly identity: string;
  readonly keysHash: string;
  readonly vectorsHash: string;
}

function viewAsBuffer(vectors: Float32Array): Buffer {
  return Buffer.from(vectors.buffer, vectors.byteOffset, vectors.byteLength);
}

/**
 * @param identity of the encoder, SHA-256 in hex
 * @param keys [K] SHA-256 in hex
 * @param vectors row-major [K, D]
 */
export function encodeBlock(identity: string, keys: readonly string[], vectors: Float32Array): Buffer {
  const keyBytes = Buffer.from(keys.join(''), 'hex');
  const header = Buffer.alloc(HEADER_BYTES);
  MAGIC.copy(header);
  header.writeUInt32LE(keys.length, COUNT_AT);
  header.writeUInt32LE(vectors.length / keys.length, DIMENSION_AT);
  header.write(identity, IDENTITY_AT, 'hex');
  header.write(computeHash(keyBytes), KEYS_HASH_AT, 'hex');
  header.write(computeHash(vectors), VECTORS_HASH_AT, 'hex');
  header.write(computeHash(header.subarray(0, OWN_HASH_AT)), OWN_HASH_AT, 'hex');
  return Buffer.concat([header, keyBytes, viewAsBuffer(vectors)]);
}

/** @returns null for bytes that are no header, or one that was altered. */
export function decodeHeader(bytes: Buffer): BlockHeader | null {
  const hashAt = (at: number) => bytes.toString('hex', at, at + HASH_BYTES);
  if (bytes.byteLength !== HEADER_BYTES || !bytes.subarray(0, COUNT_AT).equals(MAGIC)) return null;
  if (computeHash(bytes.subarray(0, OWN_HASH_AT)) !== hashAt(OWN_HASH_AT)) return null;
  return {
    count: bytes.readUInt32LE(COUNT_AT),
    dimension: bytes.readUInt32LE(DIMENSION_AT),
    identity: hashAt(IDENTITY_AT),
    keysHash: hashAt(KEYS_HASH_AT),
    vectorsHash: hashAt(VECTORS_HASH_AT),
  };
}

export function decodeKeys(bytes: Buffer): string[] {
  return Array.from({ length: bytes.byteLength / HASH_BYTES }, (_, row) =>
    bytes.toString('hex', row * HASH_BYTES, (row + 1) * HASH_BYTES),
  );
}

export function decodeVectors(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}
