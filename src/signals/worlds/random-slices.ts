import { createRandom, type Random } from '../../core/random.ts';
import type { Corpus } from '../../model/corpus.ts';
import type { Query } from '../../model/dataset.ts';
import type { Setting } from '../signal.ts';

/** Some of the numbers below `size`, ascending; every set is equally likely (Floyd's algorithm). */
function drawSet(count: number, size: number, source: Random): number[] {
  const drawn = new Set<number>();
  for (let last = size - count; last < size; last++) {
    const number = source.integer(last + 1);
    drawn.add(drawn.has(number) ? last : number);
  }
  return [...drawn].sort((a, b) => a - b);
}

/** The turns that a query could see without a slice: those before it, of the conversation that it asks. null: all before it. */
function listAsked(corpus: Corpus, { conversationId }: Query): Int32Array | null {
  if (conversationId === undefined) return null;
  return Int32Array.from(corpus.getConversation(conversationId).turns, ({ id }) => corpus.getPosition(id)).sort();
}

/**
 * Null control `random-slices`: each query sees as many turns as its slice has, drawn at random from all that it could see without a slice. What is destroyed is
 * which turns they are.
 *
 * @param slices [Q] positions, ascending.
 */
export function drawRandomSlices(
  slices: readonly Int32Array[],
  { queries, corpus }: Pick<Setting, 'queries' | 'corpus'>,
  seed: number,
): Int32Array[] {
  return slices.map((slice, place) => {
    const query = queries[place] as Query;
    const source = createRandom(seed, `random-slices/${query.id}`);
    const cutoff = corpus.countEarlierTurns(query.timestamp);
    const asked = listAsked(corpus, query)?.filter((position) => position < cutoff) ?? null;
    if (asked === null) return Int32Array.from(drawSet(slice.length, cutoff, source));
    const count = slice.filter((position) => asked.includes(position)).length;
    return Int32Array.from(drawSet(count, asked.length, source), (at) => asked[at] as number);
  });
}
