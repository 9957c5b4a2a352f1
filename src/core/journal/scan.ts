import { decodeFrame, FRAME_HEADER_BYTES, type Frame, readFrameEnd, readSequence } from './frame.ts';

/** A frame after damage has a sequence at most this far from the expected one. */
const SEQUENCE_WINDOW = 2 ** 32;
/** Bytes that the search for frames may check, for each byte of the segment. */
const CHECKS_PER_BYTE = 8;

/** Bytes that are no frame. */
export interface Damage {
  /** The first byte that is not part of a frame. */
  readonly at: number;
  /** The sequence that should be there. */
  readonly expected: number;
  /** The sequence of the next frame in the segment; null if none follows. */
  readonly next: number | null;
  /** True if the search for a next frame was given up: see {@link scanFrames}. */
  readonly undecided: boolean;
}

export type Scanned = ({ readonly kind: 'frame' } & Frame) | ({ readonly kind: 'damage' } & Damage);

/** The bytes that may still be checked; below 0 when no more may be. */
interface Budget {
  left: number;
}

/** The frame at a place if it has a possible sequence and a correct checksum. */
function findFrameAt(bytes: Buffer, at: number, salt: number, expected: number, budget: Budget): Frame | null {
  const distance = readSequence(bytes, at) - expected;
  if (distance < 0 || distance >= SEQUENCE_WINDOW) return null;
  const end = readFrameEnd(bytes, at);
  if (end === null) return null;
  budget.left -= end - at;
  return budget.left < 0 ? null : decodeFrame(bytes, at, salt);
}

/** The next frame from `at` on whose sequence is `expected` or later; null if there is none, or if the budget ended. */
function findFrame(bytes: Buffer, at: number, salt: number, expected: number, budget: Budget): Frame | null {
  const last = bytes.byteLength - FRAME_HEADER_BYTES;
  for (let offset = at; offset <= last && budget.left >= 0; offset++) {
    const frame = findFrameAt(bytes, offset, salt, expected, budget);
    if (frame !== null) return frame;
  }
  return null;
}

/**
 * The frames of a segment in order, and the damage between and after them.
 *
 * A place without a correct frame, or with one of another sequence, is searched byte by byte for the next frame, since the damaged byte may be in a length.
 * Damage with a later frame is damage inside; damage that no frame follows is a torn tail. The checksums of the search cost at most {@link CHECKS_PER_BYTE}
 * times the segment. Only a segment that was made to be slow needs more; the rest of it counts as damage, not as a torn tail.
 */
export function* scanFrames(bytes: Buffer, salt: number, first: number): Generator<Scanned> {
  const budget = { left: CHECKS_PER_BYTE * bytes.byteLength };
  let expected = first;
  for (let at = 0; at < bytes.byteLength; ) {
    const frame = findFrame(bytes, at, salt, expected, budget);
    if (frame === null || frame.at !== at || frame.sequence !== expected)
      yield { kind: 'damage', at, expected, next: frame?.sequence ?? null, undecided: budget.left < 0 };
    if (frame === null) return;
    yield { kind: 'frame', ...frame };
    at = frame.end;
    expected = frame.sequence + 1;
  }
}
