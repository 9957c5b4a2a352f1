import { createRandom } from '../../../core/numbers/random.ts';
import type { Query } from '../../../model/dataset.ts';
import type { QueryFrames } from '../../../ops/trajectory/query-frames.ts';
import type { PoolRows } from '../candidate-pool.ts';

/** For each place of a pool the place of the same query whose coordinates it gets; padding stays where it is. */
function drawShuffledPairs({ positions, width }: PoolRows, queries: readonly Query[], seed: number): Int32Array {
  const pairs = Int32Array.from(positions, (_, pair) => pair);
  for (const [query, { id }] of queries.entries()) {
    const row = positions.subarray(query * width, (query + 1) * width);
    const occupied = row.filter((position) => position >= 0).length; // the padding is at the end
    const taken = createRandom(seed, `shuffled-coordinates/${id}`).shuffle(
      Array.from({ length: occupied }, (_, slot) => slot),
    );
    for (const [slot, other] of taken.entries()) pairs[query * width + slot] = query * width + other;
  }
  return pairs;
}

/**
 * Null control `shuffled-coordinates`: each query's candidates exchange their coordinates at random. What goes from one candidate to another is all that a
 * trajectory distance is made of, the query's coordinates in the candidate's conversation and the cold start included. So each query keeps exactly
 * its distances, and no turn of another moment, and none that the query may not see, affects them. Only the assignment of distances to candidates is lost.
 * (An exchange between all turns of the corpus would bring coordinates of other moments, and neither property would hold.)
 */
export function shuffleFrames(
  frames: QueryFrames,
  pool: PoolRows,
  queries: readonly Query[],
  seed: number,
): QueryFrames {
  const pairs = drawShuffledPairs(pool, queries, seed);
  const size = frames.names.length;
  const movePairs = (values: Float32Array) =>
    values.map((_, i) => values[(pairs[Math.floor(i / size)] as number) * size + (i % size)] as number);
  return {
    ...frames,
    candidates: movePairs(frames.candidates),
    queries: movePairs(frames.queries),
    coldStart: frames.coldStart.map((_, pair) => frames.coldStart[pairs[pair] as number] as number),
  };
}
