/** From a ranking to what a model is shown: documents and memories in one token budget. */

export {
  type AssembledContext,
  type AssemblyInput,
  type AssemblyOptions,
  type AssemblySources,
  assemble,
  assemblyOptionsSchema,
} from './assemble.ts';
export { type BudgetPreset, type BudgetSplit, type ContextShares, splitBudget } from './budget.ts';
export {
  type ContextItem,
  type CountedItem,
  ITEM_TYPES,
  type ItemType,
  type Packing,
} from './context-item.ts';
export { mergeByWeight, rerankByWords } from './merge.ts';
export { packInOrder, packKnapsack } from './packing.ts';
export { formatPrompt, formatTimeAgo } from './prompt.ts';
export { askSource, type ContextSource, type SourceAnswer, type SourceRequest } from './source.ts';
export { describeTurn } from './turn-item.ts';
