import { ValidationError } from '../core/errors.ts';
import { type StartProgress, silent } from '../core/progress.ts';
import { type FeatureTable, subset } from './feature-table.ts';
import { balancedFolds, type Fold, putRows } from './folds.ts';
import type { ScoringModel } from './model.ts';
import { constrained } from './parameters.ts';
import { tableMetric } from './table-metrics.ts';
import { scoreTable } from './table-scorer.ts';
import { type CurvePoint, type TrainingOptions, train } from './training.ts';

/** Hyper-parameters to choose between. */
export type HyperParameters = Omit<TrainingOptions, 'seed'>;

export interface SelectionPlan {
  /** Makes the model anew of the rows that it is trained on, from which alone its constants may come. */
  readonly modelOf: (training: FeatureTable) => ScoringModel;
  /** Points to choose between. */
  readonly points: readonly HyperParameters[];
  /** Folds of the training rows, by cluster, that choose the point and when to stop. */
  readonly innerFolds: number;
  /** Free numbers are averaged over these. */
  readonly seeds: readonly number[];
}

export interface FitHooks {
  readonly signal?: AbortSignal;
  readonly progress?: StartProgress;
}

/** A model fitted with what its own rows chose. */
export interface Fit {
  readonly model: ScoringModel;
  /** [P] in their domains. */
  readonly values: Float64Array;
  /** Place of the chosen point. */
  readonly point: number;
  /** The metric of each point on rows that it was not trained on. */
  readonly pointValues: readonly number[];
  /** nDCG@10 of the chosen point after each epoch, on rows that it was not trained on: the mean of its trainings, as far as all of them ran. */
  readonly validation: readonly number[];
  /** How many epochs the chosen point was then trained on all rows. */
  readonly epochs: number;
  /** Of the first seed, on all rows. */
  readonly curve: readonly CurvePoint[];
}

const signalOf = ({ signal }: FitHooks) => (signal === undefined ? {} : { signal });

function average(vectors: readonly Float64Array[]): Float64Array {
  const [first] = vectors as readonly [Float64Array];
  return first.map((_, i) => vectors.reduce((sum, vector) => sum + vector[i]!, 0) / vectors.length);
}

/** Of several trainings, the mean at each epoch that all of them reached, a held out row a vote. */
function meanCurve(curves: readonly { readonly curve: readonly CurvePoint[]; readonly rows: number }[]): number[] {
  const length = Math.min(...curves.map(({ curve }) => curve.length));
  const rows = curves.reduce((sum, one) => sum + one.rows, 0);
  return Array.from(
    { length },
    (_, e) => curves.reduce((sum, one) => sum + (one.curve[e]?.validation as number) * one.rows, 0) / rows,
  );
}

/** How a point does on the rows that each inner fold holds out, epoch after epoch, a query a vote. */
async function trial(
  table: FeatureTable,
  folds: readonly Fold[],
  point: HyperParameters,
  plan: SelectionPlan,
  hooks: FitHooks,
): Promise<number[]> {
  const curves: { curve: readonly CurvePoint[]; rows: number }[] = [];
  for (const { training, heldOut } of folds) {
    const rows = subset(table, training);
    const validation = subset(table, heldOut);
    const model = plan.modelOf(rows);
    for (const seed of plan.seeds) {
      const { curve } = await train(model, rows, validation, { ...point, seed }, signalOf(hooks));
      curves.push({ curve, rows: heldOut.length });
    }
  }
  return meanCurve(curves);
}

function assertSeeds(seeds: readonly number[]): void {
  if (seeds.length === 0) throw new ValidationError(`selection needs at least one seed: ${seeds.length}`);
}

/** Trains a model on all rows for as many epochs as a point says; with several seeds, the mean of their free numbers. @throws ValidationError without seeds. */
export async function fitPoint(
  table: FeatureTable,
  point: HyperParameters,
  { modelOf, seeds }: Pick<SelectionPlan, 'modelOf' | 'seeds'>,
  hooks: FitHooks = {},
): Promise<Pick<Fit, 'model' | 'values' | 'curve'>> {
  assertSeeds(seeds);
  const model = modelOf(table);
  const thetas: Float64Array[] = [];
  const curves: (readonly CurvePoint[])[] = [];
  for (const seed of seeds) {
    const { theta, curve } = await train(model, table, null, { ...point, seed }, signalOf(hooks));
    thetas.push(theta);
    curves.push(curve);
  }
  return { model, values: constrained(model, average(thetas)), curve: curves[0] as readonly CurvePoint[] };
}

/**
 * Chooses hyper-parameters by folds of whole clusters within the table, then trains on all of it: no other row is looked at.
 *
 * @throws ValidationError without points or seeds, or for fewer clusters than folds.
 */
export async function fitWithSelection(table: FeatureTable, plan: SelectionPlan, hooks: FitHooks = {}): Promise<Fit> {
  const { points, seeds, innerFolds } = plan;
  if (points.length === 0) throw new ValidationError(`selection needs at least one point: ${points.length}`);
  assertSeeds(seeds);
  const folds = balancedFolds(table, innerFolds, seeds[0] as number);
  const trials: number[][] = [];
  for (const point of points) trials.push(await trial(table, folds, point, plan, hooks));
  const pointValues = trials.map((curve) => Math.max(...curve));
  const point = pointValues.indexOf(Math.max(...pointValues));
  const validation = trials[point] as number[];
  const epochs = validation.indexOf(pointValues[point] as number);
  const fitted = await fitPoint(table, { ...(points[point] as HyperParameters), epochs }, plan, hooks);
  return { ...fitted, point, pointValues, validation, epochs };
}

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
 * @param outer from `leaveOneClusterOut` or `balancedFolds`
 */
export async function crossValidate(
  table: FeatureTable,
  outer: readonly Fold[],
  plan: SelectionPlan,
  hooks: FitHooks = {},
): Promise<CrossValidation> {
  const scores = new Float32Array(table.mask.length);
  const folds: CrossValidation['folds'][number][] = [];
  const progress = (hooks.progress ?? silent)('cross-validation', outer.length);
  for (const { training, heldOut, clusters } of outer) {
    const fit = await fitWithSelection(subset(table, training), plan, hooks);
    const held = subset(table, heldOut);
    const own = await scoreTable(fit.model, fit.values, held);
    putRows(own, heldOut, table.width, scores);
    folds.push({ ...fit, clusters, heldOutValue: tableMetric(held, plan.points[fit.point]?.metric).mean(own) });
    progress.update(folds.length);
  }
  progress.finish(`${outer.length} folds`);
  return { scores, folds };
}
