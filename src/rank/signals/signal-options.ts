import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import { freezeDeeply, getOrCompute } from '../../core/values/once.ts';
import type { Query } from '../../model/dataset.ts';
import { curationRuleOptions } from '../../model/text/curation-rules.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { FACT_CLOSERS } from '../../model/turns/memory-fields.ts';
import { computeBandWidth } from '../../ops/attention/band.ts';
import { type LogitOptions, unifiedAttentionOptions } from '../../ops/attention/options.ts';
import { STRATEGY_NAMES, STRATEGY_WEIGHTS, type StrategyName } from '../query/strategy.ts';
import { MEMORY_SIGNALS, type MemorySignal, type MemorySignals } from './memory-signals.ts';

/** The tolerance of a row's denominator for the keys beyond the band, as a share of it. */
const FORWARD_TOLERANCE = 1e-5;

/** The band that the tolerance asks for; infinite where no distance counts less than another. */
export function computeForwardBand(options: LogitOptions, tolerance = FORWARD_TOLERANCE): number {
  return computeBandWidth(options, tolerance);
}

/** The number of turns of the longest conversation of a corpus, at least 1. */
const longest = new WeakMap<Corpus, number>();

/** W for a tolerance: the band, and at most the turns of the longest conversation, where no key is beyond. */
export function computeForwardWidth(corpus: Corpus, options: LogitOptions, tolerance = FORWARD_TOLERANCE): number {
  const turns = getOrCompute(longest, corpus, ({ conversations }) =>
    conversations.reduce((most, conversation) => Math.max(most, conversation.turns.length), 1),
  );
  return Math.min(computeForwardBand(options, tolerance), turns);
}

/** Ring attention between a query and its candidates. */
export const attentionOptions = unifiedAttentionOptions.extend({
  mechanism: z.enum(['rcp', 'ircp', 'tpo', 'unified']),
  /** Share of the attention score in the blend. */
  weight: z.number().min(0).max(1).default(0.2),
});
/**
 * Checked options of the attention stage: the mechanism (RCP, IRCP, TPO or the three together), those of ring
 * attention, and the share of the attention score in the blend, in [0, 1] (default 0.2).
 */
export type AttentionOptions = z.output<typeof attentionOptions>;

/** The curation of an arm's corpus, by rules or by facts. */
export const curationArmOptions = z.strictObject({
  /** Nearest earlier turns that each turn is compared with. */
  neighbours: z.int().min(1).max(10).default(10),
  /** The factor of the relevance of a contradicted turn. */
  tombstone: z.number().min(0).max(1).default(0.3),
  rules: curationRuleOptions,
  /**
   * Facts close earlier ones with the same subject and predicate, in the place of the rules: those of `anyone`, or of
   * the same `author` alone. Absent in a resolved config that curates by rules, so that its hash stays.
   */
  facts: z.enum(FACT_CLOSERS).optional(),
});
export type CurationArmOptions = z.output<typeof curationArmOptions>;

/** The origin of learned weights: the data that they were trained on. */
export const weightsOrigin = z.strictObject({
  file: z.string(),
  dataHash: z.string(),
  trainingClusters: z.array(z.string()),
  /** Content hashes of the training conversations; absent where the weight file has none. */
  trainingContents: z.array(z.string()).optional(),
  commit: z.string(),
});
export type WeightsOrigin = z.output<typeof weightsOrigin>;

/** How far the weights may be from a sum of 1. */
const TOLERANCE = 0.01;

const share = z.number().min(0).max(1);
const signalWeights = z
  .strictObject({
    semantic_similarity: share,
    entity_overlap: share,
    temporal_relevance: share,
    importance: share,
    reinforcement: share,
  } satisfies Record<MemorySignal, typeof share>)
  .refine((weights) => Math.abs(MEMORY_SIGNALS.reduce((sum, name) => sum + weights[name], -1)) <= TOLERANCE, {
    error: 'weights whose sum is 1',
  });

const ownWeights = z.union([signalWeights, z.partialRecord(z.enum(STRATEGY_NAMES), signalWeights)]);

/** How the five signals of memories become one score. */
export const strategyOptions = z.strictObject({
  /** `by-question`: those of the strategy that each question asks for; the name of a strategy: its weights for every question; `uniform`: 1 / 5 each; or own weights, for every question or by strategy. */
  weights: z.union([z.enum(['by-question', 'uniform', ...STRATEGY_NAMES]), ownWeights]).default('by-question'),
  /** Own weights of a user, by the attribute `userId` of the query or else its author, in place of `weights`. */
  users: z.record(z.string().min(1), ownWeights).optional(),
  /** Of learned weights of users. */
  origin: weightsOrigin.optional(),
});
/** See {@link strategyOptions}. */
export type StrategyOptions = z.output<typeof strategyOptions>;

/** The options of the signal `strategy` among those of relevance, with their defaults. @throws ConfigurationError. */
export function readStrategyOptions({ strategy = {} }: { readonly strategy?: unknown }): StrategyOptions {
  return parse(strategyOptions, strategy, 'the options of the signal strategy');
}

const UNIFORM: MemorySignals = {
  semantic_similarity: 0.2,
  entity_overlap: 0.2,
  temporal_relevance: 0.2,
  importance: 0.2,
  reinforcement: 0.2,
};

/** True if two questions of one user may have different weights. */
export function dependsOnStrategy({ weights, users = {} }: StrategyOptions): boolean {
  return [weights, ...Object.values(users)].some(
    (chosen) => chosen === 'by-question' || (typeof chosen === 'object' && !('importance' in chosen)),
  );
}

/** Who asks: the attribute `userId`, or else the author. */
export function readAsker({ attributes, author }: Pick<Query, 'attributes' | 'author'>): string | null {
  const userId = attributes?.userId;
  return typeof userId === 'string' ? userId : author;
}

/** The weights that a question gets whose strategy is known. @param user who asks, see {@link readAsker}; null if nobody is known. */
export function chooseStrategyWeights(
  { weights, users = {} }: Pick<StrategyOptions, 'weights' | 'users'>,
  strategy: StrategyName,
  user: string | null = null,
): MemorySignals {
  const chosen = user !== null && Object.hasOwn(users, user) ? (users[user] as z.output<typeof ownWeights>) : weights;
  if (chosen === 'by-question') return STRATEGY_WEIGHTS[strategy];
  if (chosen === 'uniform') return UNIFORM;
  if (typeof chosen === 'string') return STRATEGY_WEIGHTS[chosen];
  if ('importance' in chosen) return chosen as MemorySignals;
  return (chosen as Partial<Record<StrategyName, MemorySignals>>)[strategy] ?? STRATEGY_WEIGHTS[strategy];
}

const coordinateWeight = z.number().nonnegative().optional();

/** The distances of a query and a candidate in trajectory coordinates. */
export const trajectoryOptions = z.strictObject({
  /** Share of the trajectory score in the blend. */
  weight: z.number().min(0).max(1).default(0.3),
  dimensions: z.union([z.literal(3), z.literal(5), z.literal(7)]).default(5),
  complexityScale: z.enum(['log', 'raw']).default('log'),
  sigma: z.number().positive().default(1),
  /** By coordinate; by default the paper's. */
  weights: z
    .strictObject({
      depth: coordinateWeight,
      siblingOrder: coordinateWeight,
      homogeneity: coordinateWeight,
      temporal: coordinateWeight,
      complexity: coordinateWeight,
      branchFactor: coordinateWeight,
      childrenCount: coordinateWeight,
    })
    .prefault({}),
});
/**
 * Checked options of the trajectory score `exp(-distance / sigma)`: the coordinates (3, 5 or 7), their weights, the
 * scale of complexity, and the share of the score in the blend, in [0, 1].
 */
export type TrajectoryOptions = z.output<typeof trajectoryOptions>;
/**
 * The defaults of the trajectory score: 5 coordinates with the weights of the paper, logarithmic complexity, sigma 1,
 * and a share of 0.3 in the blend.
 */
export const TRAJECTORY_DEFAULTS: TrajectoryOptions = freezeDeeply(trajectoryOptions.parse({}));
