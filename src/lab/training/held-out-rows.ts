import type { Run } from '../../model/run.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { type Calibration, computeRowProbabilities, measureCalibration } from '../../rank/learning/calibration.ts';
import type { FeatureTable } from '../../rank/learning/feature-table.ts';
import type { Fold } from '../../rank/learning/folds.ts';
import { findBestPlaces } from '../../rank/learning/table-metrics.ts';
import type { PoolRows } from '../../rank/signals/candidate-pool.ts';
import { buildOuterFolds } from './fitted-methods.ts';
import type { JudgedRows } from './fold-signals.ts';
import type { LearningTask } from './learning-task.ts';
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
      const count = findBestPlaces(scores, table.mask, row * table.width, (row + 1) * table.width, best);
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

/** The rows that each fold holds out, one fold after the other. A fold may have candidates of its own, so rows of two folds differ in width. */
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

  /** @param depth places of each ranking. */
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
