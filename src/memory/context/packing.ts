import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { sumsToOne } from '../../core/validation/validation.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { MERGE_PRESETS } from '../../ops/fusion/weighted-combination.ts';
import type { StrategyName } from '../../rank/query/strategy.ts';
import type { CountedItem, Packing } from './source.ts';

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

/** The largest distance of the sum of shares from 1. */
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

/** Summaries before the others, each in its order. */
function orderSummariesFirst(items: readonly CountedItem[]): CountedItem[] {
  return [
    ...items.filter(({ memoryType }) => memoryType === 'summary'),
    ...items.filter(({ memoryType }) => memoryType !== 'summary'),
  ];
}

function describePacking(items: readonly CountedItem[], packed: readonly CountedItem[]): Packing {
  const taken = new Set(packed);
  return {
    packed,
    left: items.filter((item) => !taken.has(item)),
    tokens: packed.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/**
 * Summaries first, each that fits; then the others in their order until the first that does not fit.
 *
 * @param items best first.
 * @param budget tokens.
 */
export function packInOrder(items: readonly CountedItem[], budget: number): Packing {
  const packed: CountedItem[] = [];
  let used = 0;
  for (const item of orderSummariesFirst(items)) {
    if (used + item.tokens <= budget) {
      packed.push(item);
      used += item.tokens;
    } else if (item.memoryType !== 'summary') break;
  }
  return describePacking(items, packed);
}

/**
 * Summaries first, each that fits; then the others by score per token, the greatest first, each that fits (dantzig1957discrete). Near the knapsack where items
 * are small beside the budget, in O(N log N). Of items of equal value the one that comes first is first; an item without a token is before all others.
 *
 * @param items best first; N of them. Their scores are 0 or more, and proportional to what the items are worth, such as probabilities.
 * @param budget tokens.
 */
export function packByDensity(items: readonly CountedItem[], budget: number): Packing {
  const density = ({ score, tokens }: CountedItem) => (tokens === 0 ? Number.POSITIVE_INFINITY : score / tokens);
  const [summaries, others] = [true, false].map((wanted) =>
    items.filter(({ memoryType }) => (memoryType === 'summary') === wanted),
  ) as [CountedItem[], CountedItem[]];
  // Two infinities have no difference.
  const order = (a: CountedItem, b: CountedItem) => (density(a) === density(b) ? 0 : density(b) - density(a));
  const packed: CountedItem[] = [];
  let left = budget;
  for (const item of [...summaries, ...others.sort(order)]) {
    if (item.tokens > left) continue;
    packed.push(item);
    left -= item.tokens;
  }
  return describePacking(items, packed);
}

/** Cells of the table of the knapsack: above this it would take gigabytes. */
const MOST_CELLS = 200_000_000;

/**
 * The items with the largest sum of scores that fit, summaries first among those of equal value: a 0-1 knapsack, exact by dynamic programming over
 * items x budget; of two sets of equal sum the one with the items that come first wins. Items with a score of 0 or less follow, each that still fits.
 *
 * @param items best first; N of them.
 * @param budget tokens, B. Costs N B operations and N B bytes.
 * @throws RangeError if N B is above 2 * 10^8.
 */
export function packKnapsack(items: readonly CountedItem[], budget: number): Packing {
  const ordered = orderSummariesFirst(items);
  const able = ordered.filter(({ score, tokens }) => score > 0 && tokens <= budget);
  const width = budget + 1;
  if (able.length * width > MOST_CELLS)
    throw new RangeError(
      `knapsack of ${able.length} items and ${budget} tokens has more than ${MOST_CELLS} cells; offer fewer items or use the packing in-order`,
    );
  // From the last item back: best[b] is the largest sum of the items from i on within b tokens.
  const best = new Float64Array(width);
  const take = new Uint8Array(able.length * width);
  for (let i = able.length - 1; i >= 0; i--) {
    const { score, tokens } = able[i] as CountedItem;
    for (let b = budget; b >= tokens; b--) {
      const taken = score + (best[b - tokens] as number);
      if (taken < (best[b] as number)) continue;
      best[b] = taken;
      take[i * width + b] = 1;
    }
  }
  const packed: CountedItem[] = [];
  let left = budget;
  for (const [i, item] of able.entries()) {
    if (take[i * width + left] === 0) continue;
    packed.push(item);
    left -= item.tokens;
  }
  for (const item of ordered) {
    if (item.score > 0 || item.tokens > left) continue;
    packed.push(item);
    left -= item.tokens;
  }
  return describePacking(items, packed);
}

/** Every packing by the name that options have. */
export const PACKINGS = Object.freeze({ 'in-order': packInOrder, knapsack: packKnapsack, density: packByDensity });
/** One of {@link PACKINGS}. */
export type PackingName = keyof typeof PACKINGS;
/** The names of {@link PACKINGS}. */
export const PACKING_NAMES = Object.freeze(Object.keys(PACKINGS) as [PackingName, ...PackingName[]]);
