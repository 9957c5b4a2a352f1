import * as tf from '@tensorflow/tfjs-core';
import { viewRow } from '../../core/tensors/rows.ts';
import { readBack, scoped } from '../../core/tensors/scope.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { type Clusters, type Estimate, meanIntervals } from '../../eval/intervals/mean-intervals.ts';
import { groupByVisibleList } from '../../index/candidates/query-batch.ts';
import { computeSalience } from '../../memory/conservation/salience.ts';
import { type Corpus, findLowerBound } from '../../model/turns/corpus.ts';
import { type ConservationMetrics, GrowingSums } from '../../ops/conservation/conservation-metrics.ts';
import { computeSetConservation } from '../../ops/conservation/conservation-tensors.ts';
import { listSourceVisible } from '../../rank/retrieval/candidate-sources.ts';
import { LEFT_OUT } from '../../rank/retrieval/rank.ts';
import { type ArmRanking, listInspectedPairs, type Retrieved } from '../../rank/retrieval/retriever.ts';
import { type RankOptions, readArm } from '../../rank/retrieval/written-steps.ts';
import type { World } from '../../rank/signals/signal.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';

/**
 * The sets of turns that are measured for each query: what it may see at its moment, the candidates, the first k of the
 * ranking, and what a step `pack` keeps.
 */
export const CONSERVATION_SETS = freezeDeeply(['memory', 'pool', 'first', 'context'] as const);
export type ConservationSet = (typeof CONSERVATION_SETS)[number];

/** The figures of a set. */
export const CONSERVATION_FIGURES = freezeDeeply(['turns', 'magnitude', 'energy', 'coherence', 'information'] as const);
type ConservationFigure = (typeof CONSERVATION_FIGURES)[number];

/** By figure. */
type Figures<T> = Readonly<Record<ConservationFigure, T>>;

/** Numbers that are kept for each set: turns, magnitude, energy, information. */
const KEPT = 4;

/** The conservation metrics of S sets of turns for each of Q queries, as the record of an arm keeps them. */
export interface RecordedConservation {
  /** Ranks of the set `first`. */
  readonly k: number;
  /** The weights of the turns: `uniform` if all turns of the corpus have one salience. */
  readonly weights: 'uniform' | 'salience';
  readonly sets: readonly ConservationSet[];
  /** Row-major [Q, S, 4]: turns, magnitude, energy, information in nats. 0 for an empty set, or one without salience. */
  readonly values: Float64Array;
}

/** The conservation of what the queries of an arm were shown, by set. */
export interface ArmConservation extends Pick<RecordedConservation, 'k' | 'weights'> {
  /** Means over the queries, with intervals over the conversations. */
  readonly means: Readonly<Partial<Record<ConservationSet, Figures<Estimate>>>>;
  /** [Q] */
  readonly perQuery: Readonly<Partial<Record<ConservationSet, Figures<readonly number[]>>>>;
}

/** [N] the salience of each turn in a memory where salience does not fade. */
function listSaliences({ turns }: Corpus): Float64Array {
  return Float64Array.from(turns, ({ attributes = {}, timestamp }) =>
    computeSalience({ metadata: attributes, createdAt: timestamp }, null, 0),
  );
}

/** The turns that a query sees, and their weights. */
export type MeasuredWorld = Pick<World, 'turnVectors' | 'dimension' | 'batch' | 'subcorpora'>;

/** `turns, M, E, I` of sums; zeros for turns without salience. */
function deriveKept(sums: GrowingSums, turns: number, isSalient: boolean): number[] {
  if (!isSalient) return [turns, 0, 0, 0];
  const { magnitude, energy, information }: ConservationMetrics = sums.deriveMetrics();
  return [turns, magnitude, energy, information];
}

/**
 * The conservation metrics of the turns that each query may see at its moment, in float64 on the host. Queries that see
 * the same turns share running sums, which grow from one moment to the next: O((N + Q) D) for each distinct list.
 *
 * @param saliences [N]
 * @param visible [Q] the positions that each query may see besides, ascending; null: every earlier turn.
 * @returns row-major [Q, 4]: turns, magnitude, energy, information.
 */
export function measureMemories(
  { turnVectors, dimension, batch: asked, subcorpora }: MeasuredWorld,
  saliences: Float64Array,
  visible: readonly Int32Array[] | null = null,
): Float64Array {
  const values = new Float64Array(asked.cutoffs.length * KEPT);
  for (const { subcorpus, queryIndexes, batch } of subcorpora.split({ ...asked, ...(visible && { visible }) })) {
    for (const [list, rows] of groupByVisibleList(batch)) {
      const sums = new GrowingSums(dimension);
      let [turns, isSalient] = [0, false];
      for (const row of rows.toSorted((a, b) => batch.cutoffs[a]! - batch.cutoffs[b]!)) {
        const cutoff = batch.cutoffs[row] as number;
        const end = list === null ? cutoff : findLowerBound(list, cutoff);
        for (; turns < end; turns++) {
          const position = subcorpus.positions[list === null ? turns : (list[turns] as number)] as number;
          const salience = saliences[position] as number;
          sums.add({ embedding: viewRow(turnVectors, dimension, position), salience });
          isSalient ||= salience > 0;
        }
        values.set(deriveKept(sums, turns, isSalient), (queryIndexes[row] as number) * KEPT);
      }
    }
  }
  return values;
}

/** A set of turns for each of Q queries. */
interface ShownTurns {
  /** Row-major [Q, K] corpus positions; -1 for padding. */
  readonly positions: Int32Array;
  /** K */
  readonly width: number;
}

/** The first k ranks of each query. */
function listFirst(arm: ArmRanking, k: number): ShownTurns {
  const { pool } = arm.retrieved;
  const pairs = listInspectedPairs(arm, k);
  const positions = pairs.map((pair) => (pair < 0 ? -1 : (pool.positions[pair] as number)));
  return { positions, width: positions.length / pool.queryCount };
}

/** The candidates that no step has left out. */
function listKept({ pool: { positions, queryCount, width }, scores }: Retrieved): ShownTurns {
  const rows = Array.from({ length: queryCount }, (_, query) => {
    const start = query * width;
    const row = positions.subarray(start, start + width);
    return row.filter((position, i) => position >= 0 && scores[start + i] !== LEFT_OUT);
  });
  const most = Math.max(1, ...rows.map(({ length }) => length));
  const kept = new Int32Array(queryCount * most).fill(-1);
  for (const [query, row] of rows.entries()) kept.set(row, query * most);
  return { positions: kept, width: most };
}

/** Numbers of the embeddings that are on the device at one time: 32 MiB. */
const BATCH_NUMBERS = 2 ** 23;

/**
 * The conservation metrics of a set of turns for each query, as tensors over [queries, K, D], which are read back once.
 *
 * @param corpus [N, D]
 * @param saliences [N]
 * @returns row-major [Q, 4]
 */
async function measureShown(
  corpus: tf.Tensor2D,
  saliences: Float64Array,
  { positions, width }: ShownTurns,
): Promise<Float64Array> {
  const [count, dimension] = [positions.length / width, corpus.shape[1]];
  const size = Math.max(1, Math.floor(BATCH_NUMBERS / (width * dimension)));
  const measureBatch = (first: number) => {
    const own = positions.subarray(first * width, (first + size) * width);
    const rows = tf.gather(
      corpus,
      tf.tensor1d(
        Int32Array.from(own, (position) => Math.max(position, 0)),
        'int32',
      ),
    );
    const shape: [number, number] = [own.length / width, width];
    const weights = Float32Array.from(own, (position) => (position < 0 ? 0 : (saliences[position] as number)));
    return computeSetConservation(tf.reshape(rows, [...shape, dimension]), tf.tensor2d(weights, shape)); // [B, 3]
  };
  const starts = Array.from({ length: Math.ceil(count / size) }, (_, batch) => batch * size);
  const figures = await readBack('measureShown', () =>
    tf.concat(starts.map((first) => scoped('measureBatch', () => measureBatch(first)))),
  );
  const values = new Float64Array(count * KEPT);
  for (let query = 0; query < count; query++) {
    const row = positions.subarray(query * width, (query + 1) * width);
    values[query * KEPT] = row.filter((position) => position >= 0).length;
    values.set(figures.subarray(query * 3, (query + 1) * 3), query * KEPT + 1);
  }
  return values;
}

/**
 * Measures the conservation of what an arm showed each query: the memory that the query sees, the pool, the first k,
 * and the packed context of an arm that packs. Embeddings are the turns' own, by the encoder of the arm, also in the
 * world of a null control. A turn weighs its salience in a memory without half-life: importance and uses, which are
 * equal for turns without these attributes.
 *
 * @param workspace of the evaluated queries.
 * @param ranked the ranking of the arm.
 */
export async function measureConservation(
  workspace: Workspace,
  options: RankOptions,
  ranked: ArmRanking,
  k: number,
): Promise<RecordedConservation> {
  const { outline, control } = readArm(options);
  const world = workspace.under(control);
  const saliences = await workspace.keepOnce('saliences of turns', () => listSaliences(workspace.corpus));
  const visible = await listSourceVisible(world, outline.view);
  const { filter, slice } = outline.view;
  const seen = ['conservation of memories', filter, slice, slice && control];
  const memory = await workspace.keepOnce(seen, () => measureMemories(workspace, saliences, visible));
  const corpus = await workspace.getCorpusTensor();
  const shown = { pool: ranked.retrieved.pool, first: listFirst(ranked, k) };
  const packs = options.steps.some((name) => (options.as?.[name] ?? name) === 'pack');
  const measured = new Map<ConservationSet, Float64Array>([['memory', memory]]);
  for (const [set, turns] of Object.entries({ ...shown, ...(packs && { context: listKept(ranked.retrieved) }) }))
    measured.set(set as ConservationSet, await measureShown(corpus, saliences, turns));
  const weights = saliences.every((salience) => salience === saliences[0]) ? 'uniform' : 'salience';
  return { k, weights, sets: [...measured.keys()], values: joinSets([...measured.values()]) };
}

/** @param columns [Q, 4] each. @returns row-major [Q, S, 4] */
function joinSets(columns: readonly Float64Array[]): Float64Array {
  const joined = new Float64Array(columns.reduce((sum, { length }) => sum + length, 0));
  for (const [set, column] of columns.entries())
    for (let start = 0; start < column.length; start += KEPT)
      joined.set(column.subarray(start, start + KEPT), start * columns.length + set * KEPT);
  return joined;
}

/** The figures of one set, [queries] each. */
function readSet({ sets, values }: RecordedConservation, set: number, queries: readonly number[]): Figures<number[]> {
  const read = (figure: number) =>
    queries.map((query) => values[(query * sets.length + set) * KEPT + figure] as number);
  const energy = read(2);
  const coherence = energy.map((value) => 2 * value);
  return { turns: read(0), magnitude: read(1), energy, coherence, information: read(3) };
}

/**
 * The conservation of an arm over the measured queries.
 *
 * @param queries the rows of the record that are measured, in order.
 * @param clusters of these queries.
 */
export function summariseConservation(
  recorded: RecordedConservation,
  queries: readonly number[],
  clusters: Clusters,
  statistics: { readonly samples: number; readonly level: number; readonly seed: number },
): ArmConservation {
  const perQuery = recorded.sets.map((name, set) => [name, readSet(recorded, set, queries)] as const);
  const columns = perQuery.flatMap(([, figures]) => CONSERVATION_FIGURES.map((figure) => figures[figure]));
  const estimates = meanIntervals(columns, clusters, statistics);
  const pickMeans = (set: number) =>
    Object.fromEntries(
      CONSERVATION_FIGURES.map((figure, i) => [figure, estimates[set * CONSERVATION_FIGURES.length + i]]),
    ) as Figures<Estimate>;
  return {
    k: recorded.k,
    weights: recorded.weights,
    means: Object.fromEntries(perQuery.map(([name], set) => [name, pickMeans(set)])),
    perQuery: Object.fromEntries(perQuery),
  };
}
