import { z } from 'zod';
import { scoped } from '../../core/tensors/scope.ts';
import { type Definition, type NamingOptions, OptionsRegistry } from '../../core/validation/registry.ts';
import { diversity } from '../../ops/selection/diversity-filter.ts';
import {
  DEFAULT_LAMBDA,
  duplicateAbove,
  type Select,
  type Selection,
  type SelectionInputs,
  selectedCount,
} from '../../ops/selection/selection.ts';
import type { Signal } from '../signals/signal.ts';
import type { Workspace } from '../signals/workspace.ts';
import { crossEncoder, late, mentions, nodeDistance, type ScoreTop } from './column-options.ts';
import type { openPairScores } from './cross-encoder.ts';
import type { openLateScores } from './late.ts';

const options = z.strictObject({
  method: z.literal('mmr'),
  k: selectedCount,
  duplicateAbove,
  /** Weight of relevance against novelty. */
  lambda: z.number().min(0).max(1).default(DEFAULT_LAMBDA),
});

const mmr = {
  options,
  description: 'maximal marginal relevance: one after the other, what is relevant and unlike those taken before',
};

/** A selection that is not loaded yet. */
interface SelectionDefinition<S extends NamingOptions<'method'> = NamingOptions<'method'>>
  extends Definition<'method', S> {
  /** The column of a pool that the selection gets with its inputs. */
  listColumn?(options: z.output<S>): Signal;
  /** Scores for the best K alone, in the place of such a column. */
  openTopScores?(workspace: Workspace, options: z.output<S>): Promise<ScoreTop>;
}

const loadColumnReranking = async () => (await import('./column-reranking.ts')).rerankByColumn;

/** Every selection: to add one takes its file and a line here. */
export const SELECTIONS = new OptionsRegistry('method', [
  {
    ...mmr,
    load: async () => (await import('../../ops/selection/maximal-marginal-relevance.ts')).maximalMarginalRelevance,
  },
  { ...diversity, load: async () => (await import('../../ops/selection/diversity-filter.ts')).diversityFilter },
  { ...nodeDistance, load: loadColumnReranking },
  { ...mentions, load: loadColumnReranking },
  {
    ...crossEncoder,
    load: loadColumnReranking,
    openTopScores: async (...given: Parameters<typeof openPairScores>) =>
      (await import('./cross-encoder.ts')).openPairScores(...given),
  },
  {
    ...late,
    load: loadColumnReranking,
    openTopScores: async (...given: Parameters<typeof openLateScores>) =>
      (await import('./late.ts')).openLateScores(...given),
  },
]);

/** The options of every selection, distinguished by `method`; unknown keys are refused. */
export const selectionOptions = SELECTIONS.options;
/** The options of one selection, chosen by its name, with every default written out. */
export type SelectionOptions = z.output<typeof selectionOptions>;

/** True for a selection that orders all of the best K by a score of its own, and compares no turns with each other. */
export function isReranking(method: SelectionOptions['method']): boolean {
  const { listColumn, openTopScores } = SELECTIONS.get(method) as SelectionDefinition;
  return listColumn !== undefined || openTopScores !== undefined;
}

/** The scores of the best K of a selection; null for one that takes a column, or has no score of its own. */
export async function openTopScores(workspace: Workspace, options: SelectionOptions): Promise<ScoreTop | null> {
  const definition = SELECTIONS.get(options.method) as SelectionDefinition;
  return (await definition.openTopScores?.(workspace, options)) ?? null;
}

/** The column of a pool that a selection orders by; null for one that orders by relevance, vectors or texts. */
export function findSelectionColumn(options: SelectionOptions): Signal | null {
  const { listColumn } = SELECTIONS.get(options.method) as SelectionDefinition;
  return listColumn?.(options) ?? null;
}

/**
 * Imports the selection that the options name.
 *
 * @returns what takes the places, k of them at most.
 */
export async function loadSelection(
  options: SelectionOptions,
): Promise<(inputs: SelectionInputs, k: number) => Selection> {
  const select = (await SELECTIONS.get(options.method).load()) as Select<SelectionOptions>;
  const threshold = 'duplicateAbove' in options ? options.duplicateAbove : undefined;
  if (threshold === undefined) return (inputs, k) => select(inputs, { ...options, k });
  const { markDistinct } = await import('../../ops/selection/diversity-filter.ts');
  return (inputs, k) =>
    scoped('selectDistinct', () => select({ ...inputs, mask: markDistinct(inputs, threshold) }, { ...options, k }));
}
