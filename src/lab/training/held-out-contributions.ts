import type { Run } from '../../model/run.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { type Calibration, computeRowProbabilities, measureCalibration } from '../../rank/learning/calibration.ts';
import type { FeatureTable } from '../../rank/learning/feature-table.ts';
import { findBestSlots } from '../../rank/learning/fit-options.ts';
import type { Fold } from '../../rank/learning/folds.ts';
import { computeRawWeights, type LinearModel } from '../../rank/learning/linear-model.ts';
import { decomposeTable, type ScoringModel } from '../../rank/learning/model.ts';
import { listHandTunedValues } from '../../rank/learning/parameters.ts';
import { type Contributions, decomposeMix } from '../../rank/retrieval/steps/score-parts.ts';
import type { PoolRows } from '../../rank/signals/stage.ts';
import { FIT_METHODS } from '../config/fitted-arm.ts';
import { BASELINE, buildOuterFolds, createModelMaker, type FoldOutcome } from './fitted-methods.ts';
import { countMixed } from './fitted-steps.ts';
import type { JudgedRows } from './fold-signals.ts';
import type { LearningTask, ModelJob } from './learning-task.ts';
import type { TrainingConfig } from './training-config.ts';

/** The best candidates of each query, up to a number, as a run. @param scores row-major [Q, C] */
export function runOfScores(
  corpus: Corpus,
  table: FeatureTable,
  pool: PoolRows,
  scores: Float32Array,
  depth: number,
): Run {
  const best = new Int32Array(Math.min(depth, table.width));
  return new Map(
    table.queryIds.map((id, row) => {
      const count = findBestSlots(scores, table.mask, row * table.width, (row + 1) * table.width, best);
      const ranked = Array.from(best.subarray(0, count), (pair) => ({
        id: corpus.turns[pool.positions[pair] as number]?.id as string,
        score: scores[pair] as number,
      }));
      return [id, ranked];
    }),
  );
}

/** The outer folds of a task; listed ones may name any of its dev conversations. */
export function buildTaskFolds({ dataset, features }: LearningTask, config: TrainingConfig): Fold[] {
  const dev = dataset.queries.filter(({ split }) => split === 'dev').map(({ cluster }) => cluster);
  return buildOuterFolds(config, features, dev);
}

/**
 * The rows that each fold holds out, one fold after the other. A fold may have candidates of its own, so rows of two
 * folds differ in width.
 */
export class HeldOutRows {
  readonly folds: readonly Fold[];
  readonly #task: LearningTask;
  readonly #parts: readonly JudgedRows[];
  /** [folds + 1] the first pair of each fold. */
  readonly #offsets: readonly number[];
  readonly #depth: number;

  private constructor(task: LearningTask, folds: readonly Fold[], parts: readonly JudgedRows[], depth: number) {
    this.#task = task;
    this.#depth = depth;
    this.folds = folds;
    this.#parts = parts;
    const offsets = [0];
    for (const { table } of parts) offsets.push((offsets.at(-1) as number) + table.mask.length);
    this.#offsets = offsets;
  }

  /** @param depth ranks of each ranking. */
  static async of(task: LearningTask, folds: readonly Fold[], depth: number): Promise<HeldOutRows> {
    const parts: JudgedRows[] = [];
    for (const { heldOut, clusters } of folds) parts.push(await task.judgeRowsFor(heldOut, clusters));
    return new HeldOutRows(task, folds, parts, depth);
  }

  /** @param scores those of each fold's rows */
  joinFoldScores(scores: readonly Float32Array[]): Float32Array {
    const all = new Float32Array(this.#offsets.at(-1) as number);
    for (const [f, own] of scores.entries()) all.set(own, this.#offsets[f] as number);
    return all;
  }

  #sliceFoldScores<A extends Float32Array>(scores: A, fold: number): A {
    return scores.subarray(this.#offsets[fold], this.#offsets[fold + 1]) as A;
  }

  /** Rankings of all rows, queries in the order of the task. @param scores as {@link joinFoldScores} */
  rankAllRows(scores: Float32Array): Run {
    const { dataset, queries } = this.#task;
    const found: Run = new Map(
      this.#parts.flatMap(({ table, pool }, f) => [
        ...runOfScores(dataset.corpus, table, pool, this.#sliceFoldScores(scores, f), this.#depth),
      ]),
    );
    return new Map(queries.map(({ id }) => [id, found.get(id) ?? []]));
  }

  /** The number of queries that a ranking of {@link rankAllRows} orders in another way than equal scores do. */
  countMixed(run: Run): number {
    return countMixed(run, this.rankAllRows(new Float32Array(this.#offsets.at(-1) as number)));
  }

  /** The calibration of the softmax of a row's scores against relevance. */
  measureHeldOutCalibration(scores: Float32Array, temperature: number): Calibration {
    const tables = this.#parts.map(({ table }) => table);
    const probabilities = tables.flatMap((table, f) => [
      ...computeRowProbabilities(table, this.#sliceFoldScores(scores, f), temperature),
    ]);
    const { relevantGrade } = this.#task.table;
    const mask = Uint8Array.from(tables.flatMap((table) => [...table.mask]));
    const grades = Float32Array.from(tables.flatMap((table) => [...table.grades]));
    return measureCalibration({ mask, grades, relevantGrade }, Float64Array.from(probabilities));
  }
}

/** Methods whose scores are shown in parts. */
const SHOWN_METHODS = [BASELINE, 'learned'] as const;

/** The parts of the first ranks of each ranking, by query. */
export interface RankingParts {
  /** [P] families of signals, the greatest total magnitude first. */
  readonly names: readonly string[];
  /** Query -> row-major [ranks, P]. */
  readonly byQuery: ReadonlyMap<string, readonly number[]>;
}

/** Splits the scores of some pairs of a table into parts. */
type Decompose = (pairs: Int32Array) => Contributions;

/**
 * Of a linear mix by families of signals: the sum over a family of `w_f (x_f - mean_f) / deviation_f`. So a part is what the family gives a candidate beyond the
 * mean candidate of the training rows.
 */
function prepareMix(model: LinearModel, values: Float64Array, rows: FeatureTable): Decompose {
  const raw = computeRawWeights(model, values);
  const { signals } = model;
  const table = model.normalise === 'pool' ? rows : { signals, values: model.standardise(rows, signals) };
  return (pairs) => {
    const rows = Int32Array.from(pairs.keys());
    return decomposeMix({ signals: model.signals, values: centreSignals(table, model, pairs) }, raw, rows);
  };
}

/** Of another model by the parts that it has itself; none without them. */
async function prepareParts(model: ScoringModel, values: Float64Array, table: FeatureTable): Promise<Decompose> {
  const parts = await decomposeTable(model, values, table);
  const names = [...parts.keys()];
  const columns = [...parts.values()];
  return (pairs) => ({
    names,
    values: Float32Array.from(
      { length: pairs.length * names.length },
      (_, i) => columns[i % names.length]?.[pairs[Math.floor(i / names.length)] as number] as number,
    ),
  });
}

/**
 * Splits the scores at the top of each ranking into parts that add up to them, by the weights of the fold that holds the query out.
 *
 * @returns by method.
 */
export async function decomposeHeldOut(
  { task, config }: ModelJob,
  folds: readonly Fold[],
  outcomes: readonly FoldOutcome[],
): Promise<Map<string, RankingParts>> {
  const { model: options } = config.fit;
  const found = new Map(SHOWN_METHODS.map((method) => [method, new Map<string, Contributions>()]));
  for (const [f, fold] of folds.entries()) {
    const training = await task.features.gatherRowsFor(fold.training, fold.clusters);
    const model = createModelMaker(options, config.fit.normalise)(training);
    const { scores, values } = outcomes[f] as FoldOutcome;
    const weights = { [BASELINE]: listHandTunedValues(model), learned: values };
    const table = await task.features.gatherRowsFor(fold.heldOut, fold.clusters);
    for (const method of SHOWN_METHODS) {
      const m = FIT_METHODS.indexOf(method);
      const own = scores.subarray(m * table.mask.length, (m + 1) * table.mask.length);
      const decompose =
        options.name === 'linear'
          ? prepareMix(model as LinearModel, weights[method], table)
          : await prepareParts(model, weights[method], table);
      const best = new Int32Array(Math.min(config.evaluation.inspect, table.width));
      for (const [row, id] of table.queryIds.entries()) {
        const count = findBestSlots(own, table.mask, row * table.width, (row + 1) * table.width, best);
        found.get(method)?.set(id, decompose(best.subarray(0, count)));
      }
    }
  }
  return new Map([...found].map(([method, queries]) => [method, alignParts(queries)]));
}

/** Row-major [ranks, F]: the signals of the model minus their means. */
function centreSignals(
  { signals, values }: { readonly signals: readonly string[]; readonly values: Float32Array },
  model: LinearModel,
  pairs: Int32Array,
): Float32Array {
  const columns = model.signals.map((signal) => signals.indexOf(signal));
  return Float32Array.from({ length: pairs.length * columns.length }, (_, i) => {
    const [row, f] = [Math.floor(i / columns.length), i % columns.length];
    const value = values[(pairs[row] as number) * signals.length + (columns[f] as number)] as number;
    return value - (model.standardisation.means[f] as number);
  });
}

/** The parts of all queries in one order. */
function alignParts(queries: ReadonlyMap<string, Contributions>): RankingParts {
  const sizes = new Map<string, number>();
  for (const { names, values } of queries.values())
    for (const [i, value] of values.entries()) {
      const name = names[i % names.length] as string;
      sizes.set(name, (sizes.get(name) ?? 0) + Math.abs(value));
    }
  const order = [...sizes].sort(([, a], [, b]) => b - a).map(([name]) => name);
  const byQuery = new Map(
    [...queries].map(([id, { names, values }]) => {
      const columns = order.map((name) => names.indexOf(name));
      const rows = names.length === 0 ? 0 : values.length / names.length;
      const parts = Array.from({ length: rows }, (_, row) =>
        columns.map((column) => (column < 0 ? 0 : (values[row * names.length + column] as number))),
      );
      return [id, parts.flat()] as const;
    }),
  );
  return { names: order, byQuery };
}
