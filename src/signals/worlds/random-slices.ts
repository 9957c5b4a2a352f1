import { createRandom } from '../../core/random.ts';
import type { Query } from '../../model/dataset.ts';
import type { Setting } from '../signal.ts';

/**
 * Null control `random-slices`: each query sees as many turns as its slice has, drawn at random from all that are earlier. What is destroyed is which turns they
 * are.
 */
export function drawRandomSlices(
  slices: readonly Int32Array[],
  { queries, corpus }: Pick<Setting, 'queries' | 'corpus'>,
  seed: number,
): Int32Array[] {
  return slices.map(({ length }, query) => {
    const { id, timestamp } = queries[query] as Query;
    const source = createRandom(seed, `random-slices/${id}`);
    const earlier = corpus.countEarlierTurns(timestamp);
    const drawn = new Set<number>();
    // Floyd's algorithm: every set of this size is equally likely.
    for (let last = earlier - length; last < earlier; last++) {
      const position = source.integer(last + 1);
      drawn.add(drawn.has(position) ? last : position);
    }
    return Int32Array.from(drawn).sort();
  });
}
