import { ValidationError } from '../../core/errors/errors.ts';
import { sortByHash } from './pool.ts';

/** How {@link sampleByStratum} divides and draws. */
export interface SampleOptions<T> {
  /** Of each stratum, above 0 and at most 1. */
  readonly share: number;
  readonly seed: number;
  getStratum(item: T): string;
  /** What identifies an item. */
  getKey(item: T): readonly string[];
}

/** Below the rounding of a product such as 0.07 x 100. */
const ROUNDING = 1e-9;

/**
 * Draws a share of every stratum, rounded up, so that each has at least one item. The draw depends on the seed and the keys alone: a larger share holds a
 * smaller one.
 *
 * @returns the drawn items in the order of their hashes.
 * @throws ValidationError for a share that is not above 0 and at most 1.
 */
export function sampleByStratum<T>(items: readonly T[], options: SampleOptions<T>): T[] {
  const { share, seed, getStratum, getKey } = options;
  if (!(share > 0 && share <= 1))
    throw new ValidationError(`share of a sample is not above 0 and at most 1: ${share}; pass one such as 0.2`, {
      share,
    });
  const left = new Map<string, number>();
  for (const item of items) left.set(getStratum(item), (left.get(getStratum(item)) ?? 0) + 1);
  for (const [stratum, count] of left) left.set(stratum, Math.ceil(share * count - ROUNDING));
  const drawKey = (item: T) => ['sample', ...getKey(item)];
  return sortByHash(items, seed, drawKey).filter((item) => {
    const stratum = getStratum(item);
    const rest = left.get(stratum) as number;
    left.set(stratum, rest - 1);
    return rest > 0;
  });
}
