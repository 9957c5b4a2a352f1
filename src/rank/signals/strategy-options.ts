import { z } from 'zod';
import { parse } from '../../core/validation/validation.ts';
import type { Query } from '../../model/dataset.ts';
import { STRATEGY_NAMES, STRATEGY_WEIGHTS, type StrategyName } from '../query/strategy.ts';
import { MEMORY_SIGNALS, type MemorySignal, type MemorySignals } from './memory-signals.ts';

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
  .strictObject(Object.fromEntries(MEMORY_SIGNALS.map((name) => [name, share])) as Record<MemorySignal, typeof share>)
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

const UNIFORM = Object.fromEntries(MEMORY_SIGNALS.map((name) => [name, 1 / MEMORY_SIGNALS.length])) as MemorySignals;

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
