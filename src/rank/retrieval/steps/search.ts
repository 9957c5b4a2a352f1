import { type IndexOptions, listIndexReads } from '../../../index/registry.ts';
import { ADDED_SIGNALS, type AddedSignal } from '../../signals/signal.ts';
import { readStrategyOptions } from '../../signals/strategy-options.ts';
import { findPool, listSources } from '../candidate-sources.ts';
import { createCosineColumn, createPluginColumn, createStrategyColumn, findSourceColumn } from './columns.ts';
import type { DataPart } from './data-readers.ts';
import { defineStep, type Outline, type ScoreColumn } from './step.ts';

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

/** The signals that are columns of a pool without being the scores of one source, by name; a plugin adds others. */
export type ScoreOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Indexes that compare vectors: what they find is the list of the column `cosine`. */
const DENSE: readonly string[] = ['hnsw', 'flat', 'pgvector', 'semantic'];

function createColumn(name: string, options: Readonly<Record<string, unknown>>, before: Outline): ScoreColumn {
  const { sources, view } = before;
  const added: AddedSignal | undefined = ADDED_SIGNALS.find(name);
  if (added !== undefined) return createPluginColumn(added, options, sources, view);
  if (name === 'strategy') return createStrategyColumn(readStrategyOptions({ strategy: options }));
  const dense = sources.filter(({ index }) => DENSE.includes(index.index));
  return createCosineColumn(
    view.propagation,
    dense.map((source) => source.name),
  );
}

/** Adds columns of signals to the pool. */
export const score = defineStep<ScoreOptions>({
  name: 'score',
  summary: 'adds columns of signals that are no source: `cosine`, `strategy`, or of a plugin',
  takes: ['pool'],
  outline: (options, before) => ({
    ...before,
    columns: new Map([
      ...before.columns,
      ...Object.entries(options).map(([name, given]) => [name, createColumn(name, given, before)] as const),
    ]),
  }),
});
