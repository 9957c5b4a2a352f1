import { computeEntityOverlap } from '../../model/text/entities.ts';
import { readImportance } from '../../model/turns/memory-fields.ts';
import {
  type AskedMemories,
  askedMemories,
  listMemoryQuestions,
  type TurnEntities,
  turnEntities,
} from './asked-memories.ts';
import { readAttributes } from './boost.ts';
import { defineSignal, type StageUse, type World } from './signal.ts';
import type { Column, PoolRows } from './stage.ts';

/** Why a memory matters for a question: what it means, whom it is about, when it was, what it is worth, and how often it was of use. */
export const MEMORY_SIGNALS = Object.freeze([
  'semantic_similarity',
  'entity_overlap',
  'temporal_relevance',
  'importance',
  'reinforcement',
] as const);
/** One of {@link MEMORY_SIGNALS}. */
export type MemorySignal = (typeof MEMORY_SIGNALS)[number];
/** A number for each of {@link MEMORY_SIGNALS}. */
export type MemorySignals = Readonly<Record<MemorySignal, number>>;

/** What the signals of a memory depend on. */
export interface RatedMemory {
  /** Of its embedding with that of the question; null without one. */
  readonly cosine: number | null;
  /** Canonical ids. */
  readonly entities: readonly string[];
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  /** In [0, 1]. */
  readonly importance: number;
  /** How often it was used; null if nobody counts. */
  readonly useCount: number | null;
  readonly memoryType: string | null;
}

/** What the signals of a question depend on. */
export interface RatedQuestion {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Canonical ids, once each. */
  readonly entities: readonly string[];
  /** The time that it is about, both ends included, in milliseconds; null: no time. */
  readonly window: { readonly start: number; readonly end: number } | null;
}

const DAY = 24 * 3_600_000;
/** What a day outside the window costs, and a day of age where there is none. */
const WINDOW_DECAY = 0.1;
const AGE_DECAY = 0.01;
/** Without a count a memory is neither proven nor unproven. */
const UNCOUNTED = 0.5;
/** Summaries are dense. */
export const SUMMARY_FACTOR = 1.15;

/** Whole days between two moments, rounded down. */
function countDays(a: number, b: number): number {
  return Math.floor(Math.abs(a - b) / DAY);
}

/** 1 within the question's window and exp(-.1 days) outside; exp(-.01 days of age) without one. */
function computeTemporalRelevance(createdAt: number, { window, now }: Pick<RatedQuestion, 'window' | 'now'>): number {
  if (window === null) return Math.exp(-AGE_DECAY * countDays(now, createdAt));
  if (createdAt >= window.start && createdAt <= window.end) return 1;
  return Math.exp(-WINDOW_DECAY * Math.min(countDays(createdAt, window.start), countDays(createdAt, window.end)));
}

/** min(1, ln(1 + uses) / 5); .5 where nobody counts. */
function computeReinforcement(useCount: number | null): number {
  return useCount === null ? UNCOUNTED : Math.min(1, Math.log(1 + useCount) / 5);
}

/**
 * The five signals of a memory for a question: cosine; the share of the question's entities that it has; 1 within the question's window and exp(-.1 days) outside,
 * or exp(-.01 days of age) without one; its importance; and min(1, ln(1 + uses) / 5).
 */
export function computeMemorySignals(memory: RatedMemory, question: RatedQuestion): MemorySignals {
  const { cosine, entities, createdAt, importance, useCount } = memory;
  return {
    semantic_similarity: cosine ?? 0,
    entity_overlap: computeEntityOverlap(new Set(question.entities), new Set(entities)),
    temporal_relevance: computeTemporalRelevance(createdAt, question),
    importance,
    reinforcement: computeReinforcement(useCount),
  };
}

/** The weighted sum of the signals of a memory; that of a summary is multiplied by 1.15. */
export function scoreMemorySignals(signals: MemorySignals, weights: MemorySignals, memoryType: string | null): number {
  const sum = MEMORY_SIGNALS.reduce((total, name) => total + signals[name] * weights[name], 0);
  return memoryType === 'summary' ? sum * SUMMARY_FACTOR : sum;
}

/** Why a memory has its score. */
export interface MemoryReason {
  /** The signal without which the score would fall most. */
  readonly signal: MemorySignal;
  /** How far the score falls without each signal. */
  readonly losses: MemorySignals;
  readonly sentence: string;
}

const BECAUSE: Readonly<Record<MemorySignal, string>> = {
  semantic_similarity: 'its text is close to the question',
  entity_overlap: 'it names what the question names',
  temporal_relevance: 'it is of the time that the question is about',
  importance: 'it is important',
  reinforcement: 'it was of use before',
};

/** The signal whose removal lowers the score of a memory most, the first in the order of {@link MEMORY_SIGNALS} among equals, as a sentence and as numbers. */
export function explainMemoryScore(
  signals: MemorySignals,
  weights: MemorySignals,
  memoryType: string | null,
): MemoryReason {
  const score = scoreMemorySignals(signals, weights, memoryType);
  const losses = Object.fromEntries(
    MEMORY_SIGNALS.map((name) => [name, score - scoreMemorySignals({ ...signals, [name]: 0 }, weights, memoryType)]),
  ) as unknown as MemorySignals;
  const signal = MEMORY_SIGNALS.reduce((best, name) => (losses[name] > losses[best] ? name : best));
  const share = score > 0 ? ` (${Math.round((100 * losses[signal]) / score)} % of its score)` : '';
  return { signal, losses, sentence: `Recalled because ${BECAUSE[signal]}${share}.` };
}

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

/** The nearness of the memory to the time that the question is about; without one, its age. */
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

/** The number of times that the memory was of use. */
const reinforcementSignal = defineSignal({
  name: 'memory.uses',
  summary: 'min(1, ln(1 + uses) / 5) of the attribute `useCount` of the turn; .5 without one',
  module: import.meta.url,
  reads: ['attributes'],
  compute: ({ world, pool }: { world: World; pool: PoolRows }, _: null) =>
    readAttributes(world, pool, 'useCount', (uses) => computeReinforcement(Number(uses)), computeReinforcement(null)),
});

export { entityOverlapSignal, reinforcementSignal, temporalRelevanceSignal, typedImportanceSignal };
