import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { FeatureSource, FeatureTable } from './feature-table.ts';
import { createTableMetric } from './fit-options.ts';
import { fitByTrainer, type HyperParameters } from './fitting.ts';
import { drawBalancedFolds, type Fold, putRows } from './folds.ts';
import { listEpochsToChoose } from './greedy-selection.ts';
import { type ScoringModel, scoreTable } from './model.ts';
import { countRowEvaluations } from './parameter-search.ts';
import { constrainValues } from './parameters.ts';
import { type CurvePoint, type TrainingResult, withTrainer } from './training.ts';

/** How hyper-parameters are chosen: the points to try, the inner folds that choose one of them, and the seeds of each training. */
export interface SelectionPlan {
  /** Makes the model from the rows that it is trained on; its constants may come from these rows only. */
  readonly modelOf: (training: FeatureTable) => ScoringModel;
  /** Points to choose between. */
  readonly points: readonly HyperParameters[];
  /** Folds of the training rows, by cluster, that choose the point and when to stop. */
  readonly innerFolds: number;
  /** Free numbers are averaged over these. */
  readonly seeds: readonly number[];
}

/** Stops a fit and reports its progress; by default it runs to the end without a report. */
export interface FitHooks {
  readonly signal?: AbortSignal;
  readonly progress?: StartProgress;
}

/** A model trained with the hyper-parameters that its own rows chose. */
export interface Fit {
  readonly model: ScoringModel;
  /** [P] in their domains. */
  readonly values: Float64Array;
  /** Place of the chosen point among the points of the plan, from 0. */
  readonly point: number;
  /** [points] the metric of each point on rows that it was not trained on. */
  readonly pointValues: readonly number[];
  /** [epochs] nDCG@10 of the chosen point after each epoch, on rows that it was not trained on: the mean of its trainings, as far as all of them ran. */
  readonly validation: readonly number[];
  /** The number of epochs of the chosen point on all rows. */
  readonly epochs: number;
  /** Of the first seed, on all rows. */
  readonly curve: readonly CurvePoint[];
  /** Signals in the order in which a selection on all rows chose them; empty without one. */
  readonly path: readonly string[];
  /** The work of all trainings in evaluations of a row, see `countRowEvaluations`. */
  readonly work: number;
}

/** Rows to train on, and the clusters that are held out from them; a {@link Fold} has both. */
export type TrainingRows = Pick<Fold, 'training' | 'clusters'>;

const pickAbortSignal = ({ signal }: FitHooks) => (signal === undefined ? {} : { signal });

function averageVectors(vectors: readonly Float64Array[]): Float64Array {
  const [first] = vectors as readonly [Float64Array];
  return first.map((_, i) => vectors.reduce((sum, vector) => sum + vector[i]!, 0) / vectors.length);
}

/** Of several trainings, the mean at each epoch that all of them reached, with equal weight for each held-out row. */
function meanCurve(curves: readonly { readonly curve: readonly CurvePoint[]; readonly rows: number }[]): number[] {
  const length = Math.min(...curves.map(({ curve }) => curve.length));
  const rows = curves.reduce((sum, one) => sum + one.rows, 0);
  return Array.from(
    { length },
    (_, e) => curves.reduce((sum, one) => sum + (one.curve[e]?.validation as number) * one.rows, 0) / rows,
  );
}

interface Trials {
  /** [points, epochs] */
  readonly curves: readonly (readonly number[])[];
  readonly work: number;
}

/** The validation of each point on the rows that the inner folds hold out, by epoch, with equal weight for each query. */
async function runTrials(
  source: FeatureSource,
  outer: TrainingRows,
  folds: readonly Fold[],
  plan: SelectionPlan,
  hooks: FitHooks,
): Promise<Trials> {
  let work = 0;
  const trainings = folds.length * plan.points.length * plan.seeds.length;
  const stage = (hooks.progress ?? ignoreProgress)('hyper-parameters', trainings);
  let done = 0;
  const curves = plan.points.map((): { curve: readonly CurvePoint[]; rows: number }[] => []);
  for (const { training, heldOut, clusters } of folds) {
    const unseen = [...outer.clusters, ...clusters];
    const mapToOuterRows = (rows: Int32Array) => rows.map((row) => outer.training[row] as number);
    const rows = await source.gatherRowsFor(mapToOuterRows(training), unseen);
    const validation = await source.gatherRowsFor(mapToOuterRows(heldOut), unseen);
    const model = plan.modelOf(rows);
    await withTrainer({ model, table: rows, validation }, async (trainer) => {
      // Points of one seed and loss have the same batches, which then stay on the device.
      for (const seed of plan.seeds) {
        for (const [p, point] of plan.points.entries()) {
          const { curve } = await fitByTrainer(trainer, { ...point, seed }, pickAbortSignal(hooks));
          curves[p]?.push({ curve, rows: heldOut.length });
          work += countRowEvaluations({
            epochs: curve.length - 1,
            rows: training.length,
            validationRows: heldOut.length,
          });
          stage.update(++done);
        }
      }
    });
  }
  stage.finish(`${trainings} trainings`);
  return { curves: curves.map(meanCurve), work };
}

function assertSeeds(seeds: readonly number[]): void {
  if (seeds.length === 0) throw new ValidationError(`selection of ${seeds.length} seeds; pass at least 1`);
}

/** Trains a model on all rows for the epochs of a point; with several seeds, the mean of their free numbers. @throws ValidationError without seeds. */
export async function fitPoint(
  table: FeatureTable,
  point: HyperParameters,
  { modelOf, seeds }: Pick<SelectionPlan, 'modelOf' | 'seeds'>,
  hooks: FitHooks = {},
): Promise<Pick<Fit, 'model' | 'values' | 'curve' | 'path' | 'work'>> {
  assertSeeds(seeds);
  const model = modelOf(table);
  const trained: TrainingResult[] = [];
  await withTrainer({ model, table, validation: null }, async (trainer) => {
    for (const seed of seeds) trained.push(await fitByTrainer(trainer, { ...point, seed }, pickAbortSignal(hooks)));
  });
  const rows = table.queryIds.length;
  const work = trained.reduce(
    (sum, { curve }) => sum + countRowEvaluations({ epochs: curve.length - 1, rows, validationRows: 0 }),
    0,
  );
  const [{ values, curve, path = [] }] = trained as readonly TrainingResult[] as readonly [TrainingResult];
  const thetas = trained.map(({ theta }) => theta);
  const mean = thetas.length === 1 ? values : constrainValues(model, averageVectors(thetas));
  return { model, values: mean, curve, path, work };
}

/**
 * Chooses hyper-parameters by folds of whole clusters within the training rows, then trains on all of them: no other row is looked at, and the signals of each
 * training are fitted on its own clusters.
 *
 * @throws ValidationError without points or seeds, or for fewer clusters than folds.
 */
export async function fitWithSelection(
  source: FeatureSource,
  outer: TrainingRows,
  plan: SelectionPlan,
  hooks: FitHooks = {},
): Promise<Fit> {
  const { points, seeds, innerFolds } = plan;
  if (points.length === 0) throw new ValidationError(`selection among ${points.length} points; pass at least 1`);
  assertSeeds(seeds);
  const clusters = Array.from(outer.training, (row) => source.clusters[row] as string);
  const folds = drawBalancedFolds({ clusters }, innerFolds, seeds[0] as number);
  const { curves, work } = await runTrials(source, outer, folds, plan, hooks);
  const choices = curves.map((curve, p) => listEpochsToChoose(curve.length - 1, points[p]?.select));
  const pointValues = curves.map((curve, p) => Math.max(...choices[p]!.map((epoch) => curve[epoch] as number)));
  const point = pointValues.indexOf(Math.max(...pointValues));
  const validation = curves[point] as readonly number[];
  const epochs = choices[point]!.find((epoch) => validation[epoch] === pointValues[point]) as number;
  const rows = await source.gatherRowsFor(outer.training, outer.clusters);
  const fitted = await fitPoint(rows, { ...(points[point] as HyperParameters), epochs }, plan, hooks);
  return { ...fitted, point, pointValues, validation, epochs, work: work + fitted.work };
}

function assertWidth({ width }: FeatureTable, expected: number): void {
  if (width !== expected) throw new DimensionMismatchError('candidates of the rows of a fold', expected, width);
}

/** The result of nested cross-validation: scores of Q rows with C candidates each, and the fitted model of each outer fold. */
export interface CrossValidation {
  /** Row-major [Q, C], each row by the model that has not seen its cluster. */
  readonly scores: Float32Array;
  readonly folds: readonly (Fit & {
    readonly clusters: readonly string[];
    /** The metric on the held out rows. */
    readonly heldOutValue: number;
  })[];
}

/**
 * Nested cross-validation: each outer fold is scored by a model that was fitted, hyper-parameters and all, on the other folds.
 *
 * @param source whose rows have the same number of candidates in every fold
 * @param outer from `splitByCluster` or `drawBalancedFolds`
 * @throws DimensionMismatchError for rows of another width
 */
export async function crossValidate(
  source: FeatureSource,
  outer: readonly Fold[],
  plan: SelectionPlan,
  hooks: FitHooks = {},
): Promise<CrossValidation> {
  let scores = new Float32Array();
  const folds: CrossValidation['folds'][number][] = [];
  const progress = (hooks.progress ?? ignoreProgress)('cross-validation', outer.length);
  for (const fold of outer) {
    const { heldOut, clusters } = fold;
    const fit = await fitWithSelection(source, fold, plan, hooks);
    const held = await source.gatherRowsFor(heldOut, clusters);
    const own = await scoreTable(fit.model, fit.values, held);
    if (folds.length === 0) scores = new Float32Array(source.clusters.length * held.width);
    assertWidth(held, scores.length / source.clusters.length);
    putRows(own, heldOut, held.width, scores);
    folds.push({ ...fit, clusters, heldOutValue: createTableMetric(held, plan.points[fit.point]?.metric).mean(own) });
    progress.update(folds.length);
  }
  progress.finish(`${outer.length} folds`);
  return { scores, folds };
}
