import { computeEntityOverlap } from '../../model/text/entities.ts';
import { readImportance } from '../../model/turns/memory-fields.ts';
import {
  type AskedMemories,
  askedMemories,
  listMemoryQuestions,
  type TurnEntities,
  turnEntities,
} from './asked-memories.ts';
import { readAttributes } from './attribute-values.ts';
import type { Column, PoolRows } from './candidate-pool.ts';
import { computeReinforcement, computeTemporalRelevance } from './memory-signals.ts';
import { defineSignal, type StageUse, type World } from './signal.ts';

/** A column of what each candidate is to its query; 0 where the pool is padded. */
function scorePairs(pool: PoolRows, score: (query: number, position: number) => number): Column {
  return Float32Array.from(pool.positions, (position, pair) =>
    position < 0 ? 0 : score(Math.floor(pair / pool.width), position),
  );
}

type Asked = { readonly asked: StageUse<AskedMemories> };
type AskedEntities = Asked & { readonly turns: StageUse<TurnEntities> };

/** The share of the question's entities that the memory has. */
const entityOverlapSignal = defineSignal<null, AskedEntities>({
  name: 'memory.entities',
  summary:
    'share of the entities of the question that the turn has: its attribute `entities`, on data without that the named things of its text',
  module: import.meta.url,
  reads: ['texts', 'attributes', 'times', 'clock'],
  inputs: () => ({ asked: askedMemories(null), turns: turnEntities(null) }),
  compute: ({ pool, inputs: { asked, turns } }) => {
    const named = asked.entities.map((entities) => new Set(entities));
    const held = new Map<number, ReadonlySet<string>>();
    for (const position of pool.positions)
      if (position >= 0 && !held.has(position)) held.set(position, new Set(turns.entities[position]));
    return scorePairs(pool, (query, position) =>
      computeEntityOverlap(named[query] as ReadonlySet<string>, held.get(position) as ReadonlySet<string>),
    );
  },
});

/** How near the memory is to the time that the question is about; without one, how new it is. */
const temporalRelevanceSignal = defineSignal<null, Asked>({
  name: 'memory.time',
  summary: '1 in the time that the question is about, exp(−.1 days) outside; without such a time exp(−.01 days of age)',
  module: import.meta.url,
  reads: ['texts', 'attributes', 'times', 'clock'],
  inputs: () => ({ asked: askedMemories(null) }),
  compute: ({ world: { corpus, queries }, pool, inputs: { asked } }) => {
    const questions = listMemoryQuestions(asked);
    return scorePairs(pool, (query, position) => {
      const now = (queries[query] as (typeof queries)[number]).timestamp;
      const { window } = questions[query] as (typeof questions)[number];
      return computeTemporalRelevance(corpus.timestamps[position] as number, { window, now });
    });
  },
});

/** The attribute `importance`, or what its type is worth. */
const typedImportanceSignal = defineSignal({
  name: 'memory.importance',
  summary:
    'the attribute `importance` of the turn; without one .9 for a summary, .8 for a procedure, .5 for others, by `memoryType`',
  module: import.meta.url,
  reads: ['attributes'],
  compute: ({ world, pool }, _: null) => {
    const { turns } = world.corpus;
    return scorePairs(pool, (_query, position) => readImportance(turns[position] as (typeof turns)[number]));
  },
});

/** How often the memory was of use. */
const reinforcementSignal = defineSignal({
  name: 'memory.uses',
  summary: 'min(1, ln(1 + uses) / 5) of the attribute `useCount` of the turn; .5 without one',
  module: import.meta.url,
  reads: ['attributes'],
  compute: ({ world, pool }: { world: World; pool: PoolRows }, _: null) =>
    readAttributes(world, pool, 'useCount', (uses) => computeReinforcement(Number(uses)), computeReinforcement(null)),
});

export { entityOverlapSignal, reinforcementSignal, temporalRelevanceSignal, typedImportanceSignal };
