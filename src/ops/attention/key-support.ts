import type { CheckedRows } from './attention-rows.ts';
import type { RingAttentionOptions } from './options.ts';

/** Bounds on the keys of a row in a conversation with masked keys. */
export interface KeySupport {
  /** Keys that are not masked. */
  readonly keys: number;
  /** Most steps, 1 at least, from a query that sees any key to the nearest that it sees. */
  readonly nearest: number;
}

/** [T + 1] the last key before each place that is not masked, -1 if none. */
function findLastBefore(keyMask: Uint8Array): Int32Array {
  const last = new Int32Array(keyMask.length + 1);
  last[0] = -1;
  for (let ringPosition = 0; ringPosition < keyMask.length; ringPosition++)
    last[ringPosition + 1] = keyMask[ringPosition] === 0 ? (last[ringPosition] as number) : ringPosition;
  return last;
}

/**
 * @returns undefined if no key is masked: a query then sees all keys that its direction lets it see, down to its neighbour
 */
export function buildKeySupport(rows: CheckedRows, options: RingAttentionOptions): KeySupport | undefined {
  const { keyMask, turns, ringPositions } = rows;
  if (keyMask === undefined) return undefined;
  const { topology, direction, self } = options;
  const before = findLastBefore(keyMask);
  const mirrored = findLastBefore(keyMask.toReversed());
  const findFirstAfter = (ringPosition: number) => turns - 1 - (mirrored[turns - ringPosition] as number);
  const [first, last] = [findFirstAfter(0), before[turns] as number];
  let nearest = 1;
  for (const ringPosition of ringPositions) {
    const reach = self === 'include' ? 0 : 1;
    // On a ring the furthest keys along the line may be the nearest in the other direction.
    const seen = [before[ringPosition + 1 - reach] as number, findFirstAfter(ringPosition + reach), first, last];
    const steps = seen
      .filter((key) => {
        if (key < 0 || key >= turns || (self === 'exclude' && key === ringPosition)) return false;
        return direction === 'none' || (direction === 'causal' ? key <= ringPosition : key >= ringPosition);
      })
      .map((key) => {
        const distance = Math.abs(key - ringPosition);
        return topology === 'ring' ? Math.min(distance, turns - distance) : distance;
      });
    if (steps.length > 0) nearest = Math.max(nearest, Math.min(...steps));
  }
  return { keys: keyMask.reduce((sum, isSeen) => sum + Number(isSeen !== 0), 0), nearest };
}
