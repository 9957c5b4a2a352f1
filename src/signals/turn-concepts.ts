import type { ConceptVectors } from '../candidates/index-definition.ts';
import { createEventBreaks } from '../core/event-loop.ts';
import { getOrCompute } from '../core/once.ts';
import type { StartProgress } from '../core/progress.ts';
import { type ConceptSource, listConcepts } from '../graph/list-concepts.ts';
import { readTitle } from '../graph/turn-title.ts';
import type { TextOwner } from '../model/encoder.ts';
import { isSensitive } from '../model/sendable-text.ts';
import { defineStage, type StageUse } from './signal.ts';

/** The concepts of N texts: a list of names, and each text's as places in it. */
export interface TurnConcepts {
  readonly names: readonly string[];
  /** [N + 1] where the places of each text begin. */
  readonly offsets: Int32Array;
  /** Places in `names`, in the order of each text. */
  readonly places: Int32Array;
}

/** A text to be read, with its title if it has one. */
interface TitledText {
  readonly text: string;
  readonly title: string | null;
}

async function readConcepts(
  texts: readonly TitledText[],
  source: ConceptSource,
  noun: string,
  startProgress: StartProgress,
): Promise<TurnConcepts> {
  const progress = startProgress(`concepts of ${noun}`, texts.length);
  const pause = createEventBreaks();
  const placeOf = new Map<string, number>();
  const offsets = new Int32Array(texts.length + 1);
  const places: number[] = [];
  for (const [i, { text, title }] of texts.entries()) {
    for (const concept of listConcepts(text, title, source))
      places.push(getOrCompute(placeOf, concept, () => placeOf.size));
    offsets[i + 1] = places.length;
    progress.update(i + 1);
    await pause();
  }
  progress.finish(`${placeOf.size} concepts of ${texts.length} ${noun}`);
  return { names: [...placeOf.keys()], offsets, places: Int32Array.from(places) };
}

/** The concepts of every turn; raise the version when the same code finds others, as with another model of a language. */
export const turnConcepts = defineStage<ConceptSource, TurnConcepts>({
  name: 'concepts',
  module: import.meta.url,
  version: 1,
  of: 'turns',
  reads: ['texts', 'attributes'],
  compute: ({ world }, source) => {
    const texts = world.corpus.turns.map((turn) => ({ text: turn.text, title: readTitle(turn) }));
    return readConcepts(texts, source, 'turns', world.startProgress);
  },
});

/** The concepts of every query: arms that differ in their walks share them. */
export const queryConcepts = defineStage<ConceptSource, TurnConcepts>({
  name: 'query-concepts',
  module: import.meta.url,
  version: 1,
  of: 'queries',
  reads: ['texts'],
  compute: ({ world }, source) => {
    const texts = world.batch.texts.map((text) => ({ text, title: null }));
    return readConcepts(texts, source, 'queries', world.startProgress);
  },
});

/** The vectors of all concepts of the turns, by the encoder of the arm; each belongs to the first turn that mentions it, or to the last sensitive one. */
export const conceptVectors = defineStage<ConceptSource, ConceptVectors, { readonly concepts: StageUse<TurnConcepts> }>(
  {
    name: 'concept-vectors',
    module: import.meta.url,
    of: 'turns',
    reads: ['texts', 'attributes', 'vectors'],
    inputs: (source) => ({ concepts: turnConcepts(source) }),
    compute: async ({ world, inputs: { concepts } }) => {
      const { names, offsets, places } = concepts;
      const owners: TextOwner[] = Array(names.length);
      for (const [position, turn] of world.corpus.turns.entries())
        for (const place of places.subarray(offsets[position], offsets[position + 1]))
          if (isSensitive(turn)) owners[place] = { kind: 'turn', id: turn.id, sensitive: true };
          else owners[place] ??= { kind: 'turn', id: turn.id };
      return { names, ...(await world.embedTexts(names, owners)) };
    },
  },
);

/** @returns [N] the concepts of each text. */
export function listTurnConcepts({ names, offsets, places }: TurnConcepts): string[][] {
  return Array.from({ length: offsets.length - 1 }, (_, position) =>
    Array.from(places.subarray(offsets[position], offsets[position + 1]), (place) => names[place] as string),
  );
}
