import { createRandom, type Random } from '../../../core/numbers/random.ts';
import type { Query } from '../../../model/dataset.ts';
import type { Corpus } from '../../../model/turns/corpus.ts';
import type { Setting } from '../signal.ts';
import type { ControlKind } from './control-options.ts';

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
function listAsked(corpus: Corpus, { conversationId, timestamp }: Query): Int32Array | null {
  if (conversationId === undefined) return null;
  const cutoff = corpus.countEarlierTurns(timestamp);
  const positions = Int32Array.from(corpus.getConversation(conversationId).turns, ({ id }) => corpus.getPosition(id));
  return positions.filter((position) => position < cutoff).sort();
}

/** Which `count` of `size` turns a control takes, ascending. */
type Take = (count: number, size: number, query: Query) => Iterable<number>;

function replaceSlices(
  slices: readonly Int32Array[],
  { queries, corpus }: Pick<Setting, 'queries' | 'corpus'>,
  take: Take,
): Int32Array[] {
  return slices.map((slice, i) => {
    const query = queries[i] as Query;
    const asked = listAsked(corpus, query);
    if (asked === null) return Int32Array.from(take(slice.length, corpus.countEarlierTurns(query.timestamp), query));
    const isAsked = new Set(asked);
    const count = slice.filter((position) => isAsked.has(position)).length;
    return Int32Array.from(take(count, asked.length, query), (at) => asked[at] as number);
  });
}

/** What each control of slices puts in their place. */
const TAKES: Readonly<Partial<Record<ControlKind, (seed: number) => Take>>> = {
  'random-slices': (seed) => (count, size, query) =>
    drawSet(count, size, createRandom(seed, `random-slices/${query.id}`)),
  'newest-slices': () => (count, size) => Array.from({ length: count }, (_, i) => size - count + i),
};

/**
 * Null controls of slices: each query sees as many turns as its slice has, of all that it could see without a slice. `random-slices` draws them, and so destroys which turns
 * they are; `newest-slices` takes the newest, and so leaves of a slice nothing but that it prefers what is new.
 *
 * @param slices [Q] positions, ascending.
 * @returns the slices themselves for a control of something else.
 */
export function disturbSlices(
  slices: readonly Int32Array[],
  setting: Pick<Setting, 'queries' | 'corpus' | 'control' | 'controlSeed'>,
): readonly Int32Array[] {
  const { control } = setting;
  const take = control === null ? undefined : TAKES[control.kind]?.(setting.controlSeed(control));
  return take === undefined ? slices : replaceSlices(slices, setting, take);
}
