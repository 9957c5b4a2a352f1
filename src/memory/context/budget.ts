import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { sumsToOne } from '../../core/validation/validation.ts';
import { freezeDeeply } from '../../core/values/frozen.ts';
import { MERGE_PRESETS } from '../../ops/fusion/weighted-merge.ts';
import type { StrategyName } from '../../rank/query/strategy.ts';

/**
 * Strategies that share the budget: `rag`: documents and memories; `hybrid`: memories of every type; `episodic` and
 * `semantic`: memories of one type.
 */
export const ASSEMBLY_STRATEGIES = Object.freeze(['rag', 'hybrid', 'episodic', 'semantic'] as const);

/** The shares of documents and of memories in a context. */
export interface ContextShares {
  readonly documents: number;
  readonly memories: number;
}

/** Shares by name: those of the weighted merge. */
export type BudgetPreset = keyof typeof MERGE_PRESETS;

/**
 * The preset of a question by its strategy: what to do is in documents, what is known of somebody is in memories, and
 * the rest may be in both. A table by judgement: on an invented shop `memory-focused` for all questions is no worse
 * (experiments/context-presets).
 */
export const PRESET_OF_STRATEGY = freezeDeeply({
  procedural: 'rag-focused',
  factual_entity_focused: 'memory-focused',
  analytical: 'balanced',
  exploratory: 'balanced',
} as const satisfies Readonly<Record<StrategyName, BudgetPreset>>);

/** How far the sum of shares may be from 1. */
const TOLERANCE = 0.01;
/** Tokens that a result takes, as one estimates before results are there. */
const TOKENS_OF_A_RESULT = 100;

const share = z.number().min(0).max(1);
/** A preset, or the weights of this query. */
export const contextSharesSchema = z.union([
  z.enum(Object.keys(MERGE_PRESETS) as [BudgetPreset]),
  z
    .strictObject({ documents: share, memories: share })
    .refine((shares) => sumsToOne(Object.values(shares), TOLERANCE), `weights whose sum is 1 within ${TOLERANCE}`),
]);

/** The tokens of each source, and how many results it is asked for. */
export interface BudgetSplit {
  readonly weights: ContextShares;
  readonly documents: { readonly tokens: number; readonly k: number };
  readonly memories: { readonly tokens: number; readonly k: number };
}

function readPreset(preset: BudgetPreset): ContextShares {
  const [documents, memories] = MERGE_PRESETS[preset];
  return { documents, memories };
}

/**
 * Divides a budget between documents and memories: documents get floor(budget x weight), memories the rest, and each
 * source is asked for max(1, floor(tokens / 100)) results.
 *
 * @param budget tokens, a whole number above 0.
 * @throws ValidationError for another budget.
 */
export function splitBudget(budget: number, chosen: BudgetPreset | ContextShares): BudgetSplit {
  if (!Number.isSafeInteger(budget) || budget < 1)
    throw new ValidationError(`budget is no whole number of tokens above 0: ${budget}; give for example 2000`, {
      budget,
    });
  const weights = typeof chosen === 'string' ? readPreset(chosen) : chosen;
  const documents = Math.floor(budget * weights.documents);
  const plan = (tokens: number) => ({ tokens, k: Math.max(1, Math.floor(tokens / TOKENS_OF_A_RESULT)) });
  return { weights, documents: plan(documents), memories: plan(budget - documents) };
}
