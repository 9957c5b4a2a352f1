import { createEventBreaks } from '../core/event-loop.ts';
import { getOrCompute } from '../core/once.ts';
import { listConcepts } from '../graph/list-concepts.ts';
import { readTitle } from '../graph/turn-title.ts';
import { defineStage } from './signal.ts';

/** The concepts of N turns: a list of names, and each turn's as places in it. */
export interface TurnConcepts {
  readonly names: readonly string[];
  /** [N + 1] where the places of each turn begin. */
  readonly offsets: Int32Array;
  /** Places in `names`, in the order of each text. */
  readonly places: Int32Array;
}

/** The concepts of every turn; raise the version when the same code finds others, as with another model of a language. */
const stage = defineStage<null, TurnConcepts>({
  name: 'concepts',
  module: import.meta.url,
  version: 1,
  of: 'turns',
  reads: ['texts', 'attributes'],
  compute: async ({ world }) => {
    const { turns } = world.corpus;
    const progress = world.startProgress('concepts', turns.length);
    const pause = createEventBreaks();
    const placeOf = new Map<string, number>();
    const offsets = new Int32Array(turns.length + 1);
    const places: number[] = [];
    for (const [position, turn] of turns.entries()) {
      for (const concept of listConcepts(turn.text, readTitle(turn)))
        places.push(getOrCompute(placeOf, concept, () => placeOf.size));
      offsets[position + 1] = places.length;
      progress.update(position + 1);
      await pause();
    }
    progress.finish(`${placeOf.size} concepts of ${turns.length} turns`);
    return { names: [...placeOf.keys()], offsets, places: Int32Array.from(places) };
  },
});
export const turnConcepts = stage(null);

/** @returns [N] the concepts of each turn. */
export function listTurnConcepts({ names, offsets, places }: TurnConcepts): string[][] {
  return Array.from({ length: offsets.length - 1 }, (_, position) =>
    Array.from(places.subarray(offsets[position], offsets[position + 1]), (place) => names[place] as string),
  );
}
