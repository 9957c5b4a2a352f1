import type { z } from 'zod';
import { type Definition, type Lazy, type NamingOptions, OptionsRegistry } from '../core/registry.ts';
import { diversity } from './diversity-filter-options.ts';
import { mmr } from './marginal-relevance-options.ts';
import type { Selection, SelectionInputs } from './selection.ts';
import type { Select } from './selection-definition.ts';

function member<S extends NamingOptions<'method'>>(
  definition: Definition<'method', S>,
  load: () => Promise<Select<z.output<S>>>,
): Lazy<Definition<'method', S>, Select<z.output<S>>> {
  return { ...definition, load };
}

/** Every selection: to add one takes its file and a line here. */
export const SELECTIONS = new OptionsRegistry('method', [
  member(mmr, async () => (await import('./maximal-marginal-relevance.ts')).maximalMarginalRelevance),
  member(diversity, async () => (await import('./diversity-filter.ts')).diversityFilter),
]);

/** The options of every selection, distinguished by `method`; unknown keys are refused. */
export const selectionOptions = SELECTIONS.options;
/** The options of one selection, chosen by its name, with every default written out. */
export type SelectionOptions = z.output<typeof selectionOptions>;

/**
 * Imports the selection that the options name.
 *
 * @returns what takes the places, k of them at most.
 */
export async function loadSelection(
  options: SelectionOptions,
): Promise<(inputs: SelectionInputs, k: number) => Selection> {
  const select = (await SELECTIONS.get(options.method).load()) as Select<SelectionOptions>;
  return (inputs, k) => select(inputs, { ...options, k });
}
