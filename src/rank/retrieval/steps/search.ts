import { type IndexOptions, listIndexReads } from '../../../index/registry.ts';
import { findPool, listSources } from '../candidate-sources.ts';
import { findSourceColumn } from './columns.ts';
import type { DataPart } from './data-readers.ts';
import { defineStep } from './step.ts';

/** Sources that rank by the order of turns, or by a time that a question names, and what that reads. */
const NEEDS: Readonly<Record<string, { readonly needs: DataPart; readonly reads: readonly ['times' | 'clock'] }>> = {
  newest: { needs: 'order', reads: ['times'] },
  time: { needs: 'clock', reads: ['clock'] },
};

/** The sources of a search by name. */
export type SearchOptions = Readonly<Record<string, IndexOptions>>;

/** The pool is the union of what the sources find; each source that scores gives a column of its name. */
export const search = defineStep<SearchOptions>({
  name: 'search',
  summary: 'the pool: what the named sources find for each query; each gives a column of scores by its name',
  takes: ['turns'],
  gives: 'pool',
  outline: (options, before) => {
    const sources = listSources(options, before.view);
    const columns = new Map(before.columns);
    for (const source of sources) {
      const column = findSourceColumn(source, before.view);
      if (column !== null) columns.set(source.name, column);
    }
    return { ...before, sources, columns };
  },
  apply: async (_, state, outline, watch) => ({
    ...state,
    pool: await watch('pool', () => findPool(state.workspace, state.world.control, outline, watch)),
  }),
  reads: (options) => Object.values(options).flatMap(listIndexReads),
  needs: (options, _, find) =>
    Object.values(options).flatMap(({ index }) => {
      const need = NEEDS[index];
      if (need === undefined || find({ name: index, reads: need.reads }) !== need.needs) return [];
      return [{ needs: need.needs, part: `source ${index}`, remedy: `use another source than ${index}` }];
    }),
});
