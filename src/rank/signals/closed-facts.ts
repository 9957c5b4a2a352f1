import { getOrCompute } from '../../core/values/once.ts';
import { readMemoryFields } from '../../model/turns/memory-fields.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { defineSignal } from './signal.ts';
import type { CurationArmOptions } from './signal-options.ts';
import { scoreBySubcorpus } from './subcorpus.ts';

/** Whose later statement closes a fact: anybody's, or that of the author who stated it. */
export type FactCloser = NonNullable<CurationArmOptions['facts']>;

/**
 * Closes facts as a fact graph with two timelines does when each turn asserts its fact and ends those with the same
 * subject and predicate and another object. A fact is the attributes `subject`, `predicate` and `object` of a turn with
 * `memoryType: semantic`; other turns have none. O(turns).
 *
 * @param turns in the order of time.
 * @returns [N] the position of the turn that closed the fact of this one; -1: it holds, or the turn has no fact.
 */
export function closeFacts(turns: readonly Turn[], by: FactCloser): Int32Array {
  const closedAt = new Int32Array(turns.length).fill(-1);
  const open = new Map<string, { readonly object: string; readonly positions: number[] }>();
  for (const [position, turn] of turns.entries()) {
    const { subject, predicate, object } = readMemoryFields(turn);
    if (subject === undefined || predicate === undefined || object === undefined) continue;
    const key = JSON.stringify([subject, predicate, ...(by === 'author' ? [turn.author] : [])]);
    const held = getOrCompute(open, key, () => ({ object, positions: [] }));
    if (held.object === object) held.positions.push(position);
    else {
      for (const earlier of held.positions) closedAt[earlier] = position;
      open.set(key, { object, positions: [position] });
    }
  }
  return closedAt;
}

/** 1 while the fact of a turn holds, the tombstone's factor once a later one has closed it, as of the query. */
export const closedFactsSignal = defineSignal({
  name: 'closed-facts',
  summary: 'the tombstone’s factor for a turn whose fact a later turn closed before the query, else 1',
  module: import.meta.url,
  reads: ['attributes', 'times'],
  compute: ({ world, pool }, { facts = 'anyone', tombstone }: CurationArmOptions) =>
    scoreBySubcorpus(world, pool, async ({ subcorpus, batch: { cutoffs } }, positions) => {
      const closedAt = await world.shared.keepOnce(['closed-facts', facts, subcorpus.conversationId], () =>
        closeFacts(subcorpus.corpus.turns, facts),
      );
      return Float32Array.from(positions, (position, pair) => {
        if (position < 0) return 0;
        const at = closedAt[position] as number;
        return at >= 0 && at < (cutoffs[Math.floor(pair / pool.width)] as number) ? tombstone : 1;
      });
    }),
});
