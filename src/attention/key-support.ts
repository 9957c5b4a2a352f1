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
function lastBefore(keyMask: Uint8Array): Int32Array {
  const last = new Int32Array(keyMask.length + 1);
  last[0] = -1;
  for (let place = 0; place < keyMask.length; place++)
    last[place + 1] = keyMask[place] === 0 ? (last[place] as number) : place;
  return last;
}

/**
 * @returns undefined if no key is masked: a query then sees all keys that its direction lets it see, down to its neighbour
 */
export function keySupport(rows: CheckedRows, options: RingAttentionOptions): KeySupport | undefined {
  const { keyMask, turns, places } = rows;
  if (keyMask === undefined) return undefined;
  const { topology, direction, self } = options;
  const before = lastBefore(keyMask);
  const mirrored = lastBefore(keyMask.toReversed());
  const firstAfter = (place: number) => turns - 1 - (mirrored[turns - place] as number);
  const [first, last] = [firstAfter(0), before[turns] as number];
  let nearest = 1;
  for (const place of places) {
    const reach = self === 'include' ? 0 : 1;
    // On a ring the furthest keys along the line may be the nearest in the other direction.
    const seen = [before[place + 1 - reach] as number, firstAfter(place + reach), first, last];
    const steps = seen
      .filter((key) => {
        if (key < 0 || key >= turns || (self === 'exclude' && key === place)) return false;
        return direction === 'none' || (direction === 'causal' ? key <= place : key >= place);
      })
      .map((key) => {
        const distance = Math.abs(key - place);
        return topology === 'ring' ? Math.min(distance, turns - distance) : distance;
      });
    if (steps.length > 0) nearest = Math.max(nearest, Math.min(...steps));
  }
  return { keys: keyMask.reduce((sum, isSeen) => sum + Number(isSeen !== 0), 0), nearest };
}
