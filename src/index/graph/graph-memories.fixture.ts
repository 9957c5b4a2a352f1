import { createRandom } from '../../core/numbers/random.ts';
import type { GraphMemory } from './concept-graph.ts';
import type { EdgeWeights } from './walkable-graph.ts';

const CONCEPTS = [
  'rome',
  'carthage',
  'punic war',
  'hannibal',
  'scipio',
  'alps',
  'sicily',
  'zama',
  'cannae',
  'elephants',
];

/** A weight for each kind of edge; no two are equal, so that no kind is taken for another. */
export const WEIGHT_OF_KIND: EdgeWeights = {
  mentions: 1,
  alias: 0.4,
  cooccurrence: 0.3,
  relation: 0.35,
  reply: 0.7,
  next: 0.5,
  names: 1.3,
  namedBy: 0.2,
  similar: 0.9,
};

/**
 * Memories of a few conversations in time order: texts that hold titles of others, earlier and later, titles that several share or that say too little, parents
 * that arrive after their children, concepts that repeat, some in other spellings, triples that join them, and similar memories.
 */
export function drawGraphMemories(seed: number, count: number, conversations = 5): GraphMemory[] {
  const source = createRandom(seed, 'graph-memories');
  const pick = <T>(values: readonly T[]) => values[source.integer(values.length)] as T;
  const drawTitle = () =>
    pick(['Second Punic War', 'Scipio', 'the', `Battle of ${pick(CONCEPTS)} (battle)`, 'Rome', '']);
  const drawId = (number: number) => `t${(number * 7) % count}-${number}`;
  return Array.from({ length: count }, (_, number) => {
    const concepts = Array.from({ length: source.integer(7) }, () => pick(CONCEPTS));
    const spelled = concepts.map((concept, i) => `${concept}${['s', 'e'][(number + i) % 4] ?? ''}`);
    const conversation = source.integer(conversations);
    // Some parents are the next memory, as in turns of one moment whose ids are in another order.
    const parent = source.uniform() < 0.6 ? number - 1 - source.integer(3) : number + 1;
    const similar = new Map<string, number>();
    for (let i = 0; i < 2 && number > 0; i++) similar.set(drawId(source.integer(number)), 0.8 + 0.2 * source.uniform());
    return {
      id: drawId(number),
      conversationId: `c${conversation}`,
      parentId: parent < 0 || parent >= count || source.uniform() < 0.2 ? null : drawId(parent),
      text: `Then ${concepts.join(' and ')} after the ${drawTitle()} of ${pick(CONCEPTS)}.`,
      title: source.uniform() < 0.4 ? null : drawTitle(),
      concepts: spelled,
      relations: spelled.slice(2).map((concept, i): [string, string] => [spelled[i] as string, concept]),
      similar,
    };
  });
}
