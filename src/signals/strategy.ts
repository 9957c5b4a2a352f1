import * as tf from '@tensorflow/tfjs-core';
import { freezeDeeply } from '../core/frozen.ts';
import { createRandom } from '../core/random.ts';
import { readBack } from '../core/read-back.ts';
import { scoped } from '../core/scope.ts';
import { assertShape } from '../core/shapes.ts';
import type { Corpus } from '../model/corpus.ts';
import type { Query } from '../model/dataset.ts';
import type { StrategyName } from '../query/strategy.ts';
import { type AskedMemories, askedMemories } from './asked-memories.ts';
import { type Column, QUERY_BATCH } from './candidate-pool.ts';
import { cosineSignal } from './cosine.ts';
import {
  entityOverlapSignal,
  reinforcementSignal,
  temporalRelevanceSignal,
  typedImportanceSignal,
} from './memory-columns.ts';
import { MEMORY_SIGNALS, type MemorySignal, type MemorySignals, SUMMARY_FACTOR } from './memory-signals.ts';
import { defineSignal, type Signal, type StageUse, type World } from './signal.ts';
import { chooseStrategyWeights, type StrategyOptions } from './strategy-options.ts';

/** The five signals of memories by their names, in the order of {@link MEMORY_SIGNALS}. */
export const STRATEGY_SIGNALS: Readonly<Record<MemorySignal, Signal>> = freezeDeeply({
  semantic_similarity: cosineSignal(null),
  entity_overlap: entityOverlapSignal(null),
  temporal_relevance: temporalRelevanceSignal(null),
  importance: typedImportanceSignal(null),
  reinforcement: reinforcementSignal(null),
});

/**
 * The weighted sums of signals, each query with its own weights; never negative.
 *
 * @param signals [B, C, S]
 * @param weights [B, S]
 * @param factors [B, C]
 * @returns [B, C]
 */
export function weighByQuery(signals: tf.Tensor3D, weights: tf.Tensor2D, factors: tf.Tensor2D): tf.Tensor2D {
  const sizes = assertShape('signals', signals, 'B C S');
  assertShape('weights', weights, 'B S', sizes);
  assertShape('factors', factors, 'B C', sizes);
  return scoped('weighByQuery', () =>
    tf.relu(tf.mul(tf.sum(tf.mul(signals, tf.expandDims(weights, 1)), 2), factors) as tf.Tensor2D),
  );
}

/** Who asks: the attribute `userId`, or else the author. */
export function readAsker({ attributes, author }: Pick<Query, 'attributes' | 'author'>): string | null {
  const userId = attributes?.userId;
  return typeof userId === 'string' ? userId : author;
}

/** The weights of a query whose strategy is known: those of who asks, if they have own ones. */
export function chooseQueryWeights(options: StrategyOptions, strategy: StrategyName, query: Query): MemorySignals {
  return chooseStrategyWeights(options, strategy, readAsker(query));
}

/** [C] what the score of each candidate is multiplied by: 1.15 for a summary; 0 where padded. @param positions [C] in the corpus, -1 where padded. */
export function listSummaryFactors({ turns }: Pick<Corpus, 'turns'>, positions: Int32Array): Float32Array {
  return Float32Array.from(positions, (position) => {
    if (position < 0) return 0;
    return turns[position]?.attributes?.memoryType === 'summary' ? SUMMARY_FACTOR : 1;
  });
}

type Inputs = Readonly<Record<MemorySignal, StageUse<Column>>> & { readonly asked: StageUse<AskedMemories> };

/** [Q] the strategy of each question; under a null control those of other questions. */
function readStrategies(world: World, { strategies }: AskedMemories): readonly StrategyName[] {
  if (world.control?.kind !== 'shuffled-strategies') return strategies;
  return createRandom(world.controlSeed(world.control), 'shuffled-strategies').shuffle([...strategies]);
}

/** The five signals of memories, weighted by the strategy of each question; a summary counts 1.15 times. */
export const strategySignal = defineSignal<StrategyOptions, Inputs>({
  name: 'strategy',
  summary:
    'cosine, overlap of entities, nearness in time, importance and uses, weighted by the strategy of the question; 1.15 times for a summary, at least 0',
  module: import.meta.url,
  reads: ['texts', 'vectors', 'attributes', 'times', 'clock', 'strategies'],
  inputs: () => ({ ...STRATEGY_SIGNALS, asked: askedMemories(null) }),
  compute: async ({ world, pool: { positions, width, queryCount }, inputs }, options) => {
    const { corpus, queries } = world;
    const S = MEMORY_SIGNALS.length;
    const strategies = readStrategies(world, inputs.asked);
    const scores = new Float32Array(positions.length);
    for (let first = 0; first < queryCount; first += QUERY_BATCH) {
      const B = Math.min(QUERY_BATCH, queryCount - first);
      const start = first * width;
      const signals = Float32Array.from(
        { length: B * width * S },
        (_, i) => inputs[MEMORY_SIGNALS[i % S] as MemorySignal][start + Math.floor(i / S)] as number,
      );
      const weights = Array.from({ length: B }, (_, row) => {
        const strategy = strategies[first + row] as StrategyName;
        const chosen = chooseQueryWeights(options, strategy, queries[first + row] as Query);
        return MEMORY_SIGNALS.map((name) => chosen[name]);
      });
      const factors = listSummaryFactors(corpus, positions.subarray(start, start + B * width));
      const block = await readBack('strategy', () =>
        weighByQuery(
          tf.tensor3d(signals, [B, width, S]),
          tf.tensor2d(weights, [B, S]),
          tf.tensor2d(factors, [B, width]),
        ),
      );
      scores.set(block, start);
    }
    return scores;
  },
});
