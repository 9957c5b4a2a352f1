import type { z } from 'zod';
import { ConfigurationError } from '../../../core/errors/errors.ts';
import { findNearestWord } from '../../../core/validation/validation.ts';
import type { LateOptions } from '../../../index/late/late-options.ts';
import { type IndexOptions, listIndexReads } from '../../../index/registry.ts';
import { VECTOR_INDEXES } from '../../../index/vectors/registry.ts';
import type { Bm25IndexOptions } from '../../../index/words/bm25.ts';
import type { Candidates } from '../../../model/candidates.ts';
import type { PropagationOptions } from '../../../ops/attention/options.ts';
import { COORDINATES } from '../../../ops/trajectory/coordinate-names.ts';
import { HAND_TUNED, listMixSignals } from '../../learning/model.ts';
import { readDomain } from '../../query/domain/domain-options.ts';
import { listSignalNames } from '../../signals/bank/options.ts';
import { bm25Signal } from '../../signals/bm25.ts';
import { cosineSignal } from '../../signals/cosine.ts';
import { computeShares, LEAST_LATE, lateSignal } from '../../signals/late.ts';
import { recencySignal } from '../../signals/recency.ts';
import { ADDED_SIGNALS, type AddedSignal, defineStage, type Signal, type StageUse } from '../../signals/signal.ts';
import {
  dependsOnStrategy,
  readStrategyOptions,
  type StrategyOptions,
  type TrajectoryOptions,
} from '../../signals/signal-options.ts';
import type { Column, PoolRows } from '../../signals/stage.ts';
import { listStrategySignals, strategySignal } from '../../signals/strategy.ts';
import { findPool, listSources } from '../candidate-sources.ts';
import type { MixOptions } from './change.ts';
import {
  type DataPart,
  type DataReader,
  defineStep,
  type Outline,
  type RankState,
  requirePool,
  type ScoreColumn,
  type Source,
  type View,
} from './step.ts';

/** (1 + cos) / 2, the semantic weight of ring attention: never negative, so that it can be decayed and blended. */
export function computeSemanticWeight(cosines: Column): Column {
  return cosines.map((cosine) => (1 + cosine) / 2);
}

/** A fault of an arm: where, within the arm, and what is expected there. */
export type AddFault = (path: readonly PropertyKey[], expected: string) => void;

/** Propagated embeddings are for an index that knows them. */
export function checkSearch(sources: SearchOptions, { view }: Outline, fault: AddFault): void {
  if (view.propagation !== null && !Object.values(sources).some(({ index }) => index === 'flat'))
    fault([], 'a source with index flat, which alone knows propagated embeddings');
  for (const [name, source] of Object.entries(sources))
    if (source.index === 'domain') checkDomain(source.domain, (expected) => fault([name, 'domain'], expected));
}

/** Reports the faults of a domain. */
function checkDomain(domain: unknown, fault: (expected: string) => void): void {
  try {
    readDomain(domain);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    for (const { path, expected, got } of error.faults) fault(`${path}: ${expected}, not ${got}`);
  }
}

/** Columns of signals have names beside those of sources. */
export function checkScore(signals: ScoreOptions, { columns }: Outline, fault: AddFault): void {
  for (const name of Object.keys(signals))
    if (columns.has(name)) fault([name], `a signal that no source is named as; give the source ${name} another name`);
}

/** A mix weighs signals that its bank has, and a fit starts from one of them. */
export function checkMix(options: MixOptions, _: Outline, fault: AddFault): void {
  const known = listSignalNames(options.signals);
  const assertKnown = (path: readonly PropertyKey[], signal: string) => {
    if (known.includes(signal)) return;
    const nearest = findNearestWord(signal, known);
    fault(path, `a signal of the bank${nearest === undefined ? '' : `, such as ${nearest}`}`);
  };
  if (!('fit' in options)) {
    for (const signal of Object.keys(options.weights)) assertKnown(['weights', signal], signal);
    return;
  }
  const { model, users, select, normalise } = options.fit;
  const { groups } = options.signals;
  if (users !== undefined && !(groups.includes('text') && groups.includes('memory')))
    fault(['signals', 'groups'], 'a list with text and memory, which fit.users needs');
  if (model.name === 'trajectory') {
    if (select !== null) fault(['fit', 'select'], 'null: signals are selected for model linear alone');
    if (normalise !== 'pool') fault(['fit', 'normalise'], 'pool: model trajectory standardises no signals');
    return;
  }
  for (const [i, signal] of (model.signals ?? []).entries()) assertKnown(['fit', 'model', 'signals', i], signal);
  const initial = model.initial ?? HAND_TUNED;
  if (listMixSignals(known, model).every((signal) => (initial[signal] ?? 0) === 0))
    fault(['fit', 'model', 'initial'], 'the weight of at least one signal of the model, where the fit starts');
}

function checkCoordinates({ dimensions, weights }: TrajectoryOptions, fault: AddFault): void {
  const known: readonly string[] = COORDINATES[dimensions];
  for (const name of Object.keys(weights))
    if (!known.includes(name)) fault(['weights', name], `a coordinate of ${dimensions} (${known.join(', ')})`);
}

/** Blends weigh coordinates that their dimensions have. */
export function checkBlend(blends: Readonly<Record<string, unknown>>, _: Outline, fault: AddFault): void {
  for (const [name, options] of Object.entries(blends)) {
    const at = name === 'trajectory' ? [name] : [name, 'coordinates'];
    const { coordinates } = name === 'trajectory' ? { coordinates: options } : (options as { coordinates?: unknown });
    if (coordinates !== undefined)
      checkCoordinates(coordinates as TrajectoryOptions, (path, expected) => fault([...at, ...path], expected));
  }
}

/** A mapping whose values may be left out in a later file or arm by null. */
export const withoutNulls = <T>(mapping: Readonly<Record<string, T | null>>): Record<string, T> =>
  Object.fromEntries(Object.entries(mapping).filter((entry): entry is [string, T] => entry[1] !== null));

/** A member that there is none of by its name, which is a key. */
export function addUnknownKey(
  key: string,
  known: readonly string[],
  context: Pick<z.core.$RefinementCtx, 'issues'>,
): void {
  context.issues.push({ code: 'unrecognized_keys', keys: [key], known, path: [] } as never);
}

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
function createCosineColumn(propagation: PropagationOptions | null, lists: readonly string[]): ScoreColumn {
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

/** Indexes that compare vectors: what they find is the list of the column `cosine`. */
const DENSE: readonly string[] = [...VECTOR_INDEXES.names, 'semantic'];

/** The column of a source by its index, unless it is dense. Sources that are not here find candidates and score none. */
const SOURCE_COLUMNS: Readonly<Record<string, (source: Source, view: View) => ScoreColumn>> = {
  bm25: ({ name, index }) => describeColumn(name, bm25Signal(index as Bm25IndexOptions), { lists: [name] }),
  newest: ({ name }) => createRecencyColumn([name]),
  late: ({ name, index }) =>
    describeColumn(name, lateSignal(index as LateOptions), {
      lists: [name],
      minimum: LEAST_LATE,
      toScores: computeShares,
    }),
  run: (source) => createListColumn(source, false),
  graph: (source) => createListColumn(source, true),
};

/** The indexes whose sources give a column. */
export const SOURCE_COLUMN_NAMES: readonly string[] = [...DENSE, ...Object.keys(SOURCE_COLUMNS)];

/** The column that a source of a search gives; null for one that finds candidates and scores none. */
function findSourceColumn(source: Source, view: View): ScoreColumn | null {
  const { index } = source.index;
  if (DENSE.includes(index)) return createCosineColumn(view.propagation, [source.name]);
  return SOURCE_COLUMNS[index]?.(source, view) ?? null;
}

/** The five signals of memories, weighted by the strategy of each question. */
function createStrategyColumn(options: StrategyOptions): ScoreColumn {
  return describeColumn('strategy', strategySignal(options), {
    parts: new Map(Object.entries(listStrategySignals())),
    reads: dependsOnStrategy(options) ? ['strategies'] : [],
    strategy: options,
  });
}

/**
 * A signal of a plugin. What it does not declare it may read, except for slices where the arm has none, and strategies.
 */
function createPluginColumn(
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

/** Sources that rank by the order of turns, or by a time that a question names, and what that reads. */
const NEEDS: Readonly<Record<string, { readonly needs: DataPart; readonly reads: readonly ['times' | 'clock'] }>> = {
  newest: { needs: 'order', reads: ['times'] },
  time: { needs: 'clock', reads: ['clock'] },
};

/** The sources of a search by name. */
export type SearchOptions = Readonly<Record<string, IndexOptions>>;

/** The queries that a source found a turn for. */
function countAnswered({ positions, width }: Candidates): number {
  return positions.filter((position, i) => i % width === 0 && position >= 0).length;
}

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
  countEffects: async (options, { state: { world }, outline }) => {
    if (Object.keys(options).length === 1) return {};
    const counts = outline.sources.map(async ({ name, found }) => [name, countAnswered(await world.get(found))]);
    return Object.fromEntries(await Promise.all(counts));
  },
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

/** The queries whose candidates a column tells apart; none where the arm reads no such column. */
function countTold(state: RankState, column: Column | undefined): number {
  const { positions, width, queryCount } = requirePool(state);
  const isTold = (_: unknown, query: number) => {
    const row = positions.subarray(query * width, (query + 1) * width);
    return row.some((position, i) => position >= 0 && column?.[query * width + i] !== column?.[query * width]);
  };
  return Array.from({ length: queryCount }, isTold).filter(Boolean).length;
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
  countEffects: (options, { state }) =>
    Object.fromEntries(Object.keys(options).map((name) => [name, countTold(state, state.components.get(name))])),
});
