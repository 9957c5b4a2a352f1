import { ValidationError } from '../errors/errors.ts';
import { computeCrc32 } from '../hash/hash.ts';
import type { Payload } from './position.ts';

/** [length u32][CRC-32 u32][sequence u64], little endian; the payload follows. */
export const FRAME_HEADER_BYTES = 16;
/** The largest payload. A length beyond it is damage. */
export const LARGEST_PAYLOAD = 2 ** 30;

const CRC_AT = 4;
const SEQUENCE_AT = 8;
const WORD = 2 ** 32;

export const countBytes = (payload: Payload) => payload.reduce((sum, { byteLength }) => sum + byteLength, 0);

/** Parts of fewer bytes are copied together: a call for each would cost more. */
const LEAST_PART = 2 ** 16;

/**
 * The bytes of arrays, one after the other, in few parts. Arrays that follow each other in one buffer are a view of it
 * if they have at least 64 KiB together; the rest is copied.
 */
export function joinViews(views: readonly ArrayBufferView[]): Uint8Array[] {
  const joined: Uint8Array[] = [];
  let small: Uint8Array[] = [];
  const copySmall = () => {
    if (small.length > 0) joined.push(small.length === 1 ? (small[0] as Uint8Array) : Buffer.concat(small));
    small = [];
  };
  for (let i = 0; i < views.length; ) {
    const { buffer, byteOffset: start } = views[i] as ArrayBufferView;
    let end = start;
    for (; i < views.length; i++) {
      const next = views[i] as ArrayBufferView;
      if (next.buffer !== buffer || next.byteOffset !== end) break;
      end += next.byteLength;
    }
    const part = new Uint8Array(buffer, start, end - start);
    if (part.byteLength >= LEAST_PART) {
      copySmall();
      joined.push(part);
    } else small.push(part);
  }
  copySmall();
  return joined;
}

/** An entry and its place in the bytes of a segment. */
export interface Frame {
  readonly at: number;
  /** The first byte after it. */
  readonly end: number;
  readonly sequence: number;
  readonly payload: Uint8Array;
}

/** The CRC-32 of length, sequence and payload, begun with the salt of the segment: bytes of another segment within a payload are no frames. */
function computeFrameCrc(bytes: Buffer, at: number, end: number, salt: number): number {
  const ofLength = computeCrc32(bytes.subarray(at, at + CRC_AT), salt);
  return computeCrc32(bytes.subarray(at + SEQUENCE_AT, end), ofLength);
}

function encodeHeader(salt: number, sequence: number, payload: Payload): Buffer {
  const header = Buffer.allocUnsafe(FRAME_HEADER_BYTES);
  header.writeUInt32LE(countBytes(payload));
  header.writeBigUInt64LE(BigInt(sequence), SEQUENCE_AT);
  let crc = computeFrameCrc(header, 0, FRAME_HEADER_BYTES, salt);
  // zlib forgets the checksum so far if there are no bytes.
  for (const part of payload) if (part.byteLength > 0) crc = computeCrc32(part, crc);
  header.writeUInt32LE(crc, CRC_AT);
  return header;
}

/** The frames of payloads with successive sequences from `first` on, in parts: payloads are not copied. */
export function encodeFrames(salt: number, first: number, payloads: readonly Payload[]): Uint8Array[] {
  return payloads.flatMap((payload, i) => [encodeHeader(salt, first + i, payload), ...payload]);
}

/** @throws ValidationError for a payload that no frame can hold. */
export function assertPayload(payload: Payload): void {
  const bytes = countBytes(payload);
  if (bytes <= LARGEST_PAYLOAD) return;
  throw new ValidationError(
    `entry of a journal is too large: ${bytes} bytes; write entries of at most ${LARGEST_PAYLOAD} bytes`,
    { bytes, limit: LARGEST_PAYLOAD },
  );
}

/** The sequence that bytes hold if they are the header of a frame. The room for the header must be there. */
export function readSequence(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at + SEQUENCE_AT) + bytes.readUInt32LE(at + SEQUENCE_AT + 4) * WORD;
}

/** Where a frame at this place ends by its length; null if its header or its payload does not fit. */
export function readFrameEnd(bytes: Buffer, at: number): number | null {
  if (at + FRAME_HEADER_BYTES > bytes.byteLength) return null;
  const length = bytes.readUInt32LE(at);
  const end = at + FRAME_HEADER_BYTES + length;
  return length <= LARGEST_PAYLOAD && end <= bytes.byteLength ? end : null;
}

/** The frame at a place; null if there is none with a correct checksum. The payload is a view. */
export function decodeFrame(bytes: Buffer, at: number, salt: number): Frame | null {
  const end = readFrameEnd(bytes, at);
  if (end === null || computeFrameCrc(bytes, at, end, salt) !== bytes.readUInt32LE(at + CRC_AT)) return null;
  return { at, end, sequence: readSequence(bytes, at), payload: bytes.subarray(at + FRAME_HEADER_BYTES, end) };
}
