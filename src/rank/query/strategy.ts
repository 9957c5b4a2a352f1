import { freezeDeeply } from '../../core/values/once.ts';
import type { QueryType } from './classify-query.ts';

/** Weights of the five signals of a memory by strategy; each row sums to 1. */
export const STRATEGY_WEIGHTS = freezeDeeply({
  factual_entity_focused: {
    semantic_similarity: 0.25,
    entity_overlap: 0.4,
    temporal_relevance: 0.2,
    importance: 0.1,
    reinforcement: 0.05,
  },
  procedural: {
    semantic_similarity: 0.45,
    entity_overlap: 0.05,
    temporal_relevance: 0.05,
    importance: 0.15,
    reinforcement: 0.3,
  },
  exploratory: {
    semantic_similarity: 0.35,
    entity_overlap: 0.25,
    temporal_relevance: 0.15,
    importance: 0.2,
    reinforcement: 0.05,
  },
  analytical: {
    semantic_similarity: 0.3,
    entity_overlap: 0.15,
    temporal_relevance: 0.25,
    importance: 0.25,
    reinforcement: 0.05,
  },
} as const);

/** A name of {@link STRATEGY_WEIGHTS}. */
export type StrategyName = keyof typeof STRATEGY_WEIGHTS;
/** The names of {@link STRATEGY_WEIGHTS}, in their order. */
export const STRATEGY_NAMES = Object.freeze(Object.keys(STRATEGY_WEIGHTS) as [StrategyName, ...StrategyName[]]);

/** A strategy with its weights and the condition that chose it. */
export interface Strategy {
  readonly name: StrategyName;
  readonly weights: (typeof STRATEGY_WEIGHTS)[StrategyName];
  /** The condition, as one line. */
  readonly rule: string;
}

/** Conditions in their order: the first that holds decides. */
const CONDITIONS: readonly (readonly [StrategyName, string, (type: QueryType) => boolean])[] = [
  ['procedural', 'the question is procedural', ({ procedural }) => procedural],
  [
    'factual_entity_focused',
    'the question is factual and entity-focused',
    ({ category, entityFocused }) => entityFocused && category === 'factual',
  ],
  ['analytical', 'the question is analytical', ({ category }) => category === 'analytical'],
  ['exploratory', 'no other strategy fits', () => true],
];

/** The strategy of a type of question: procedural, else factual and entity-focused, else analytical, else exploratory. */
export function selectStrategy(type: QueryType): Strategy {
  const [name, rule] = CONDITIONS.find(([, , holds]) => holds(type)) as (typeof CONDITIONS)[number];
  return { name, weights: STRATEGY_WEIGHTS[name], rule };
}
