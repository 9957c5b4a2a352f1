import * as tf from '@tensorflow/tfjs-core';
import { createRandom } from '../../core/numbers/random.ts';
import { assertShape } from '../../core/tensors/rows.ts';
import { readBack, scoped } from '../../core/tensors/scope.ts';
import { once } from '../../core/values/once.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { StrategyName } from '../query/strategy.ts';
import { type AskedMemories, askedMemories } from './asked-memories.ts';
import { cosineSignal } from './cosine.ts';
import {
  entityOverlapSignal,
  MEMORY_SIGNALS,
  type MemorySignal,
  type MemorySignals,
  reinforcementSignal,
  SUMMARY_FACTOR,
  temporalRelevanceSignal,
  typedImportanceSignal,
} from './memory-signals.ts';
import { defineSignal, defineStage, type Signal, type StageUse } from './signal.ts';
import { chooseStrategyWeights, readAsker, type StrategyOptions } from './signal-options.ts';
import { type Column, QUERY_BATCH } from './stage.ts';

/** The five signals of memories by their names, in the order of {@link MEMORY_SIGNALS}. */
export const listStrategySignals = once(
  (): Readonly<Record<MemorySignal, Signal>> => ({
    semantic_similarity: cosineSignal(null),
    entity_overlap: entityOverlapSignal(null),
    temporal_relevance: temporalRelevanceSignal(null),
    importance: typedImportanceSignal(null),
    reinforcement: reinforcementSignal(null),
  }),
);

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

/** [C] what the score of each candidate is multiplied by: 1.15 for a summary; 0 where padded. @param positions [C] in the corpus, -1 where padded. */
export function listSummaryFactors({ turns }: Pick<Corpus, 'turns'>, positions: Int32Array): Float32Array {
  return Float32Array.from(positions, (position) => {
    if (position < 0) return 0;
    return turns[position]?.attributes?.memoryType === 'summary' ? SUMMARY_FACTOR : 1;
  });
}

/** Five signals of Q queries with C candidates each, and how they are weighted. */
interface WeighedPairs {
  /** C. */
  readonly width: number;
  /** The value of the signal at a place of {@link MEMORY_SIGNALS}, of the pair at a place of [Q, C]. */
  readonly readSignal: (pair: number, signal: number) => number;
  /** [Q] */
  readonly weights: readonly MemorySignals[];
  /** [Q, C], see {@link listSummaryFactors}. */
  readonly factors: Float32Array;
}

/** Row-major [Q, C] the scores by {@link weighByQuery}, {@link QUERY_BATCH} queries at a time. */
export async function scoreByStrategy({ width, readSignal, weights, factors }: WeighedPairs): Promise<Float32Array> {
  const S = MEMORY_SIGNALS.length;
  const scores = new Float32Array(weights.length * width);
  for (let first = 0; first < weights.length; first += QUERY_BATCH) {
    const B = Math.min(QUERY_BATCH, weights.length - first);
    const start = first * width;
    const signals = Float32Array.from({ length: B * width * S }, (_, i) =>
      readSignal(start + Math.floor(i / S), i % S),
    );
    const rows = weights.slice(first, first + B).map((own) => MEMORY_SIGNALS.map((name) => own[name]));
    const block = await readBack('strategy', () =>
      weighByQuery(
        tf.tensor3d(signals, [B, width, S]),
        tf.tensor2d(rows, [B, S]),
        tf.tensor2d(factors.subarray(start, start + B * width), [B, width]),
      ),
    );
    scores.set(block, start);
  }
  return scores;
}

/** [Q] the strategy of each question, as rules choose it; under the null control `shuffled-strategies` those of other questions. */
export const queryStrategies = defineStage<null, { readonly strategies: readonly StrategyName[] }, Asked>({
  name: 'query-strategies',
  module: import.meta.url,
  of: 'queries',
  reads: ['texts', 'attributes', 'times', 'clock', 'strategies'],
  inputs: () => ({ asked: askedMemories(null) }),
  compute: ({ world, inputs: { asked } }) => {
    if (world.control?.kind !== 'shuffled-strategies') return { strategies: asked.strategies };
    const source = createRandom(world.controlSeed(world.control), 'shuffled-strategies');
    return { strategies: source.shuffle([...asked.strategies]) };
  },
});
type Asked = { readonly asked: StageUse<AskedMemories> };

type Inputs = Readonly<Record<MemorySignal, StageUse<Column>>> & {
  readonly asked: StageUse<{ readonly strategies: readonly StrategyName[] }>;
};

/** The five signals of memories, weighted by the strategy of each question; a summary counts 1.15 times. */
export const strategySignal = defineSignal<StrategyOptions, Inputs>({
  name: 'strategy',
  summary:
    'cosine, overlap of entities, nearness in time, importance and uses, weighted by the strategy of the question; 1.15 times for a summary, at least 0',
  module: import.meta.url,
  reads: ['texts', 'vectors', 'attributes', 'times', 'clock', 'strategies'],
  inputs: () => ({ ...listStrategySignals(), asked: queryStrategies(null) }),
  compute: ({ world: { corpus, queries }, pool: { positions, width }, inputs }, options) =>
    scoreByStrategy({
      width,
      readSignal: (pair, signal) => inputs[MEMORY_SIGNALS[signal] as MemorySignal][pair] as number,
      weights: queries.map((query, q) =>
        chooseStrategyWeights(options, inputs.asked.strategies[q] as StrategyName, readAsker(query)),
      ),
      factors: listSummaryFactors(corpus, positions),
    }),
});
