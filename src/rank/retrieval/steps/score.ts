import { ADDED_SIGNALS, type AddedSignal } from '../../signals/signal.ts';
import { readStrategyOptions } from '../../signals/strategy-options.ts';
import { createCosineColumn, createPluginColumn, createStrategyColumn } from './columns.ts';
import { defineStep, type Outline, type ScoreColumn } from './step.ts';

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
