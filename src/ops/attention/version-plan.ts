import { findLowerBound } from '../../model/turns/corpus.ts';
import { computeBandWidth } from './band.ts';
import type { PropagationOptions } from './options.ts';

/** One version of a turn's propagated embedding: computed when its conversation had `size` turns. */
export interface Version {
  /** Ring position in the conversation. */
  readonly ringPosition: number;
  readonly size: number;
  /** Valid for the cutoffs c with validFrom <= c < validTo. */
  readonly validFrom: number;
  readonly validTo: number;
}

/**
 * Steps that a newcomer reaches, under `tolerance`.
 *
 * additive: a turn further away keeps its version, and its attention output is within 4 tolerance of the exact one (band.ts: far keys hold at most that share
 * of the mass before and after, and unit values differ by at most 2). multiplicative: every far key weighs e^0 = 1, so a newcomer moves each output by up to 2 /
 * denominator, however far it is: no distance is safe.
 */
export function countNewcomerSteps(options: PropagationOptions, tolerance: number): number {
  return options.combine === 'additive' ? computeBandWidth(options, tolerance) : Number.POSITIVE_INFINITY;
}

/** Whether no later turn can change a turn's version in a conversation of `size` turns. */
function isSettled(
  ringPosition: number,
  size: number,
  reach: number,
  { topology, direction }: PropagationOptions,
): boolean {
  if (topology === 'line' && direction === 'causal') return true; // later turns are no keys of it, and no distance changes
  const wraps = topology === 'ring' && direction !== 'causal' && ringPosition < reach;
  return ringPosition + reach < size && !wraps;
}

/**
 * The versions of one conversation's turns that the given cutoffs need, by size, then place.
 *
 * @param positions ascending corpus positions of the conversation's turns
 * @param cutoffs ascending
 * @param end greater than any cutoff
 * @param isOrdered whether new turns are last; if they may be between others, no version is ever final
 */
export function planVersions(
  positions: Int32Array,
  cutoffs: Int32Array,
  end: number,
  reach: number,
  options: PropagationOptions,
  isOrdered = true,
): Version[] {
  const settled = new Uint8Array(positions.length);
  const versions: Version[] = [];
  for (let size = 1; size <= positions.length; size++) {
    const validFrom = (positions[size - 1] as number) + 1;
    const next = size === positions.length ? end : (positions[size] as number) + 1;
    const needed = (cutoffs[findLowerBound(cutoffs, validFrom)] ?? end) < next;
    if (!needed) continue;
    for (let ringPosition = 0; ringPosition < size; ringPosition++) {
      if (settled[ringPosition] === 1) continue;
      settled[ringPosition] = isOrdered && isSettled(ringPosition, size, reach, options) ? 1 : 0;
      versions.push({ ringPosition, size, validFrom, validTo: settled[ringPosition] === 1 ? end : next });
    }
  }
  return versions;
}
