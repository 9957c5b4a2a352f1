import type { Bm25IndexOptions } from '../../../index/words/bm25-options.ts';
import type { Candidates } from '../../../model/candidates.ts';
import type { PropagationOptions } from '../../../ops/attention/options.ts';
import { bm25Signal } from '../../signals/bm25.ts';
import type { Column, PoolRows } from '../../signals/candidate-pool.ts';
import { cosineSignal } from '../../signals/cosine.ts';
import { recencySignal } from '../../signals/recency.ts';
import { type AddedSignal, defineStage, type Signal, type StageUse } from '../../signals/signal.ts';
import { STRATEGY_SIGNALS, strategySignal } from '../../signals/strategy.ts';
import { dependsOnStrategy, type StrategyOptions } from '../../signals/strategy-options.ts';
import { computeSemanticWeight } from '../relevance.ts';
import type { DataPart, DataReader } from './data-readers.ts';
import type { ScoreColumn, Source, View } from './step.ts';

/** The scores of one query by position. A list with a negative score is shifted so that its lowest score is 0. */
function indexScores({ positions, scores, width }: Candidates, query: number): Map<number, number> {
  const row = Array.from({ length: width }, (_, i) => query * width + i).filter((i) => (positions[i] as number) >= 0);
  const lowest = row.reduce((least, i) => Math.min(least, scores[i] as number), 0);
  return new Map(row.map((i) => [positions[i] as number, (scores[i] as number) - lowest]));
}

/** @returns the scores of a list as a column of a pool; 0 for a candidate that the list lacks */
function alignListScores(found: Candidates, { positions, width, queryCount }: PoolRows): Column {
  const column = new Float32Array(positions.length);
  for (let query = 0; query < queryCount; query++) {
    const byPosition = indexScores(found, query);
    for (let i = query * width; i < (query + 1) * width; i++) column[i] = byPosition.get(positions[i] as number) ?? 0;
  }
  return column;
}

/**
 * The scores of a source's list as a column of a pool, never negative, since decay multiplies them; 0 for a candidate
 * that the source did not find.
 */
const listScores = defineStage<StageUse<Candidates>, Column, { readonly found: StageUse<Candidates> }>({
  name: 'list-scores',
  module: import.meta.url,
  of: 'pairs',
  isKept: false,
  reads: ({ reads }) => reads,
  key: () => null,
  inputs: (found) => ({ found }),
  compute: ({ pool, inputs: { found } }) => alignListScores(found, pool),
});

const LEAVE_OUT = 'leave the signal out';

/** A plugin that declares nothing reads everything. */
const PLUGIN_REMEDIES: Readonly<Record<DataPart, string>> = {
  clock: `${LEAVE_OUT}, or declare reads without clock in its plugin`,
  order: LEAVE_OUT,
  threads: `${LEAVE_OUT}, or declare reads in its plugin, with texts, vectors or attributes alone`,
};

function describeColumn(
  name: string,
  signal: Signal,
  own: Partial<ScoreColumn> & { readonly remedies?: Readonly<Record<DataPart, string>> } = {},
): ScoreColumn {
  const { remedies, ...facts } = own;
  return {
    signal,
    lists: [],
    isListed: false,
    isZeroOutside: false,
    minimum: 0,
    reads: [],
    needs: (find): DataReader[] => {
      const needs = find(signal);
      if (needs === null) return [];
      return [{ needs, part: `relevance signal ${name}`, remedy: remedies?.[needs] ?? LEAVE_OUT }];
    },
    ...facts,
  };
}

/** The cosine of the vectors; of what it reads, propagation alone needs threads, which the step of that name says. */
export function createCosineColumn(propagation: PropagationOptions | null, lists: readonly string[]): ScoreColumn {
  const needs = () => [];
  return describeColumn('cosine', cosineSignal(propagation), {
    lists,
    minimum: -1,
    toScores: computeSemanticWeight,
    needs,
  });
}

/** The ranks in time of the turns before the query. */
export function createRecencyColumn(lists: readonly string[]): ScoreColumn {
  return describeColumn('recency', recencySignal(null), { lists });
}

/** The scores in the list of a source; 0 for what it did not find. */
function createListColumn({ name, found }: Source, isListed: boolean): ScoreColumn {
  return describeColumn(name, listScores(found), { lists: [name], isListed, isZeroOutside: true });
}

const createDenseColumn = ({ name }: Source, { propagation }: View) => createCosineColumn(propagation, [name]);

/** The column of a source by its index. Sources that are not here find candidates and score none. */
const SOURCE_COLUMNS: Readonly<Record<string, (source: Source, view: View) => ScoreColumn>> = {
  bm25: ({ name, index }) => describeColumn(name, bm25Signal(index as Bm25IndexOptions), { lists: [name] }),
  hnsw: createDenseColumn,
  flat: createDenseColumn,
  pgvector: createDenseColumn,
  semantic: createDenseColumn,
  newest: ({ name }) => createRecencyColumn([name]),
  run: (source) => createListColumn(source, false),
  graph: (source) => createListColumn(source, true),
};

/** The indexes whose sources give a column. */
export const SOURCE_COLUMN_NAMES: readonly string[] = Object.keys(SOURCE_COLUMNS);

/** The column that a source of a search gives; null for one that finds candidates and scores none. */
export function findSourceColumn(source: Source, view: View): ScoreColumn | null {
  return SOURCE_COLUMNS[source.index.index]?.(source, view) ?? null;
}

/** The five signals of memories, weighted by the strategy of each question. */
export function createStrategyColumn(options: StrategyOptions): ScoreColumn {
  return describeColumn('strategy', strategySignal(options), {
    parts: new Map(Object.entries(STRATEGY_SIGNALS)),
    reads: dependsOnStrategy(options) ? ['strategies'] : [],
    strategy: options,
  });
}

/**
 * A signal of a plugin. What it does not declare it may read, except for slices where the arm has none, and strategies.
 */
export function createPluginColumn(
  added: AddedSignal,
  options: Readonly<Record<string, unknown>>,
  sources: readonly Source[],
  { slice }: View,
): ScoreColumn {
  const signal = added.create(options);
  return describeColumn(added.name, signal, {
    lists: sources.filter(({ index }) => added.indexes.includes(index.index)).map(({ name }) => name),
    reads: signal.reads.filter((part) => part !== 'strategies' && (part !== 'slices' || slice !== null)),
    toScores: (column: Column) => {
      added.assertNotNegative(column);
      return column;
    },
    remedies: PLUGIN_REMEDIES,
  });
}
