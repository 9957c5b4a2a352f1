import { type Corpus, listConversationPositions } from '../../../model/turns/corpus.ts';
import { computeDepths } from '../../../ops/trajectory/frame-tables.ts';

/**
 * Remembers for each conversation what was made of its first turns the last time. Queries come in time order, so that
 * most ask for the same number of turns as the one before them, and memory stays linear in the turns.
 */
export function keepLatest<T>(
  make: (conversation: number, turns: number) => T,
): (conversation: number, turns: number) => T {
  const latest = new Map<number, { readonly turns: number; readonly made: T }>();
  return (conversation, turns) => {
    const known = latest.get(conversation);
    if (known?.turns === turns) return known.made;
    const made = make(conversation, turns);
    latest.set(conversation, { turns, made });
    return made;
  };
}

/**
 * For each conversation the corpus positions of its turns in time order, of turns of one moment the less deep ones
 * first: then every turn comes after the one that it answers. Later turns do not change the order of earlier turns.
 */
export function orderParentsFirst(corpus: Corpus): Int32Array[] {
  const depth = computeDepths(corpus.parent);
  const { timestamps } = corpus;
  return listConversationPositions(corpus).map((positions) =>
    positions.sort(
      (a, b) =>
        (timestamps[a] as number) - (timestamps[b] as number) || (depth[a] as number) - (depth[b] as number) || a - b,
    ),
  );
}
