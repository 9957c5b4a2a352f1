import { CholeskyDecomposition, Matrix } from 'ml-matrix';
import { NotFiniteError, ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { createEventBreaks, ignoreProgress, letEventsIn } from '../../core/terminal/progress.ts';
import { type FeatureTable, selectQueries } from './feature-table.ts';
import { createTableMetric, findBestSlots } from './fit-options.ts';
import { displayTraining } from './learning-display.ts';
import type { LinearModel } from './linear-model.ts';
import { listUsableQueries } from './losses.ts';
import { type ScoringModel, scoreTable, TableScorer } from './model.ts';
import { chooseParameterValues, freeValues, listHandTunedValues, nameParameterValues } from './parameters.ts';
import type { CurvePoint, TrainingHooks, TrainingOptions, TrainingResult } from './training.ts';

/** Candidates of a query that are always among its rows: the first by the hand-tuned weights. */
const FIRST = 120;
/** Candidates that are drawn from the others, and count for all of them. */
const DRAWN = 60;
/** Added to the second derivative, so that a nearly constant signal is not chosen. */
const DAMPING = 0.02;
/** A signal that lowers the loss by less does not lower it. */
const LEAST_GAIN = 1e-10;
/** Newton steps stop once the next would lower the loss by about half of this. */
const PRECISION = 1e-8;
const MOST_STEPS = 50;
const MOST_HALVINGS = 40;

/** The numbers of signals among which validation chooses; ascending. */
export interface GreedySelection {
  readonly sizes: readonly number[];
}

/** The epochs that validation chooses between: all from the start to the last, or the sizes that a selection reached. */
export function listEpochsToChoose(last: number, select?: GreedySelection): number[] {
  if (select === undefined) return Array.from({ length: last + 1 }, (_, epoch) => epoch);
  return select.sizes.map((size) => Math.min(size, last));
}

/** Rows of Q queries, N in total, with F signals. */
export interface SelectionRows {
  /** [Q + 1] the first row of each query, and the end of the last. */
  readonly starts: Int32Array;
  /** [F, N] standardised signals. */
  readonly columns: readonly Float32Array[];
  /** [N] grade / sum of the grades of the query. */
  readonly targets: Float64Array;
  /** [N] ln of the number of candidates that a row counts for. */
  readonly offsets: Float64Array;
  /** [F] true for a weight that must not be below 0. */
  readonly bounded: readonly boolean[];
}

/**
 * The rows of one query: its relevant candidates and the first {@link FIRST} by a rough score, which count once, then
 * {@link DRAWN} of the n others, which count n / {@link DRAWN} times.
 */
function drawQueryRows(table: FeatureTable, query: number, rough: Float32Array, seed: number) {
  const { width, mask, grades } = table;
  const [start, end] = [query * width, (query + 1) * width];
  const first = new Int32Array(Math.min(FIRST, width));
  const chosen = new Set(first.subarray(0, findBestSlots(rough, mask, start, end, first)));
  const others: number[] = [];
  for (let pair = start; pair < end; pair++) {
    if (mask[pair] === 0 || chosen.has(pair)) continue;
    if ((grades[pair] as number) > 0) chosen.add(pair);
    else others.push(pair);
  }
  const drawn = createRandom(seed, `greedy selection ${table.queryIds[query]}`)
    .shuffle([...others])
    .slice(0, DRAWN);
  const offset = Math.log(others.length / Math.max(1, drawn.length));
  return { pairs: [...chosen, ...drawn], certain: chosen.size, offset };
}

/** Gathers what the loss is computed from. @param rough row-major [Q, C] */
export function gatherSelectionRows(
  model: LinearModel,
  table: FeatureTable,
  rough: Float32Array,
  seed: number,
): SelectionRows {
  const queries = [...listUsableQueries(table, { name: 'listwise' })];
  const drawn = queries.map((query) => drawQueryRows(table, query, rough, seed));
  const starts = new Int32Array(queries.length + 1);
  for (const [q, { pairs }] of drawn.entries()) starts[q + 1] = starts[q]! + pairs.length;
  const count = starts[queries.length] as number;
  const { signals } = model;
  const columns = signals.map(() => new Float32Array(count));
  const targets = new Float64Array(count);
  const offsets = new Float64Array(count);
  for (const [q, { pairs, certain, offset }] of drawn.entries()) {
    const query = queries[q] as number;
    const values = model.standardise(selectQueries(table, [query]), signals); // [C, F]
    const sum = pairs.reduce((total, pair) => total + Math.max(0, table.grades[pair]!), 0);
    for (const [i, pair] of pairs.entries()) {
      const row = starts[q]! + i;
      const from = (pair - query * table.width) * signals.length;
      for (let f = 0; f < signals.length; f++) columns[f]![row] = values[from + f]!;
      targets[row] = Math.max(0, table.grades[pair]!) / sum;
      offsets[row] = i < certain ? 0 : offset;
    }
  }
  const free = new Set(model.parameters.filter(({ constraint }) => constraint === 'free').flatMap((one) => one.labels));
  return { starts, columns, targets, offsets, bounded: signals.map((signal) => !free.has(signal)) };
}

/** Weights of chosen signals, with the loss and the predictions at them. */
export interface SelectionPoint {
  /** [K] positions of the chosen signals. */
  readonly chosen: readonly number[];
  /** [K] */
  readonly weights: Float64Array;
  /** [N] softmax of the scores of each query. */
  readonly shares: Float64Array;
  /** Mean over the queries of the listwise loss. */
  readonly loss: number;
  /** The same with the penalty `l2 sum_k w_k^2`. */
  readonly penalised: number;
}

/** The loss `ln sum_r e^(s_r + o_r) - sum_r t_r (s_r + o_r)` of each query at some weights. O(N K). */
export function computeSelectionPoint(
  rows: SelectionRows,
  chosen: readonly number[],
  weights: Float64Array,
  l2: number,
): SelectionPoint {
  const { starts, columns, targets, offsets } = rows;
  const scores = offsets.slice();
  for (const [k, f] of chosen.entries()) {
    const column = columns[f] as Float32Array;
    const weight = weights[k] as number;
    for (let row = 0; row < scores.length; row++) scores[row]! += weight * column[row]!;
  }
  let sum = 0;
  for (let q = 0; q + 1 < starts.length; q++) {
    const [start, end] = [starts[q] as number, starts[q + 1] as number];
    let most = Number.NEGATIVE_INFINITY;
    for (let row = start; row < end; row++) most = Math.max(most, scores[row]!);
    let total = 0;
    let matched = 0;
    for (let row = start; row < end; row++) {
      matched += targets[row]! * scores[row]!;
      scores[row] = Math.exp(scores[row]! - most);
      total += scores[row]!;
    }
    for (let row = start; row < end; row++) scores[row]! /= total;
    sum += most + Math.log(total) - matched;
  }
  const loss = sum / (starts.length - 1);
  return {
    ...{ chosen, weights, shares: scores, loss },
    penalised: loss + l2 * weights.reduce((total, w) => total + w * w, 0),
  };
}

/** First and second derivative of the loss by the weight of a signal at a point. O(N). */
export function computeDerivatives(rows: SelectionRows, { shares }: Pick<SelectionPoint, 'shares'>, signal: number) {
  const { starts, targets } = rows;
  const column = rows.columns[signal] as Float32Array;
  let gradient = 0;
  let curvature = 0;
  for (let q = 0; q + 1 < starts.length; q++) {
    let mean = 0;
    let square = 0;
    let target = 0;
    const end = starts[q + 1] as number;
    for (let row = starts[q] as number; row < end; row++) {
      const z = column[row] as number;
      const part = (shares[row] as number) * z;
      mean += part;
      square += part * z;
      target += (targets[row] as number) * z;
    }
    gradient += mean - target;
    curvature += square - mean * mean;
  }
  const queries = starts.length - 1;
  return { gradient: gradient / queries, curvature: curvature / queries };
}

/** [K, K] the second derivatives by the weights of chosen signals. N K^2 / 2 multiplications. */
export function computeHessian({ starts, columns }: SelectionRows, { chosen, shares }: SelectionPoint): number[][] {
  const queries = starts.length - 1;
  const K = chosen.length;
  const means = chosen.map(() => new Float64Array(queries)); // [K, Q]
  const hessian = Array.from({ length: K }, () => new Array<number>(K).fill(0));
  const weighted = new Float64Array(shares.length);
  for (let i = 0; i < K; i++) {
    const column = columns[chosen[i] as number] as Float32Array;
    const own = means[i] as Float64Array;
    for (let q = 0; q < queries; q++)
      for (let row = starts[q]!, end = starts[q + 1]!; row < end; row++) {
        weighted[row] = shares[row]! * column[row]!;
        own[q]! += weighted[row]!;
      }
    for (let j = 0; j <= i; j++) {
      const products = multiply(weighted, columns[chosen[j] as number] as Float32Array);
      const value = (products - multiply(own, means[j] as Float64Array)) / queries;
      hessian[i]![j] = value;
      hessian[j]![i] = value;
    }
  }
  return hessian;
}

/** Sum of products, in four sums that a processor adds to at once. */
function multiply(a: Float64Array, b: Float64Array | Float32Array): number {
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  const even = a.length - (a.length % 4);
  for (let i = 0; i < even; i += 4) {
    s0 += a[i]! * b[i]!;
    s1 += a[i + 1]! * b[i + 1]!;
    s2 += a[i + 2]! * b[i + 2]!;
    s3 += a[i + 3]! * b[i + 3]!;
  }
  for (let i = even; i < a.length; i++) s0 += a[i]! * b[i]!;
  return s0 + s1 + (s2 + s3);
}

/** The Newton step of the weights that may move: those at their bound that would leave it stay. */
function computeNewtonStep(rows: SelectionRows, at: SelectionPoint, l2: number) {
  const { chosen, weights } = at;
  const gradient = Float64Array.from(chosen, (f, k) => computeDerivatives(rows, at, f).gradient + 2 * l2 * weights[k]!);
  const moving = [...chosen.keys()].filter((k) => !(rows.bounded[chosen[k]!] && weights[k] === 0 && gradient[k]! >= 0));
  const step = new Float64Array(chosen.length);
  if (moving.length === 0) return { step, decrement: 0 };
  const full = computeHessian(rows, at);
  const hessian = moving.map((i) => moving.map((j) => full[i]![j]! + (i === j ? 2 * l2 : 0)));
  const slopes = Matrix.columnVector(moving.map((k) => gradient[k]!));
  const solved = new CholeskyDecomposition(new Matrix(hessian)).solve(slopes).to1DArray();
  for (const [m, k] of moving.entries()) step[k] = solved[m]!;
  return { step, decrement: moving.reduce((sum, k) => sum + gradient[k]! * step[k]!, 0) };
}

/**
 * The weights of the least penalised loss, by Newton steps from some weights: each is halved until the loss falls, since
 * whole steps from 0 diverge. A weight that must not be below 0 stays at 0 while it would be (Bertsekas 1982).
 *
 * @throws NotFiniteError for a loss that is no number
 */
export function minimiseLoss(rows: SelectionRows, from: SelectionPoint, l2: number): SelectionPoint {
  let at = from;
  for (let n = 0; n < MOST_STEPS; n++) {
    if (!Number.isFinite(at.penalised))
      throw new NotFiniteError('loss of the selection', `weights ${[...at.weights]}`, at.penalised);
    const { step, decrement } = computeNewtonStep(rows, at, l2);
    const next = takeStep(rows, at, step, l2);
    if (next === null) return at;
    at = next;
    if (decrement < PRECISION) return at;
  }
  return at;
}

function takeStep(rows: SelectionRows, at: SelectionPoint, step: Float64Array, l2: number): SelectionPoint | null {
  for (let halving = 0, share = 1; halving < MOST_HALVINGS; halving++, share /= 2) {
    const weights = at.weights.map((weight, k) => {
      const moved = weight - share * step[k]!;
      return rows.bounded[at.chosen[k]!] ? Math.max(0, moved) : moved;
    });
    const next = computeSelectionPoint(rows, at.chosen, weights, l2);
    if (next.penalised < at.penalised) return next;
  }
  return null;
}

/** The signal with the greatest g^2 / (h + {@link DAMPING}) that is not chosen, or null if none has a slope. */
async function findSteepestSignal(rows: SelectionRows, at: SelectionPoint, pause: () => Promise<void>) {
  let best: number | null = null;
  let most = 0;
  for (const f of rows.columns.keys()) {
    if (at.chosen.includes(f)) continue;
    const { gradient, curvature } = computeDerivatives(rows, at, f);
    await pause();
    const gain = gradient ** 2 / (curvature + DAMPING);
    if ((rows.bounded[f] && gradient >= 0) || !(gain > most)) continue;
    most = gain;
    best = f;
  }
  return best;
}

/**
 * Forward selection: each point has the signals of the last and the one whose weight promises the steepest fall of the
 * loss, all of them fitted again. Ends when no signal lowers the loss. A step costs O(N F) for the choice and O(N K^2)
 * for each Newton step.
 */
export async function* walkSelectionPath(rows: SelectionRows, l2: number): AsyncGenerator<SelectionPoint> {
  const pause = createEventBreaks();
  let at = computeSelectionPoint(rows, [], new Float64Array(), l2);
  while (at.chosen.length < rows.columns.length) {
    const best = await findSteepestSignal(rows, at, pause);
    if (best === null) return;
    const start = { ...at, chosen: [...at.chosen, best], weights: Float64Array.of(...at.weights, 0) };
    const next = minimiseLoss(rows, start, l2);
    if (!(next.penalised < at.penalised - LEAST_GAIN)) return;
    at = next;
    yield at;
  }
}

function assertLinear(model: ScoringModel): asserts model is LinearModel {
  if (model.name !== 'linear')
    throw new ValidationError(`selection of signals for the model: ${model.name}; use model linear`);
}

/** The weights of a point as values of a model, 0 for signals that are not chosen. */
function listValues(model: LinearModel, { chosen, weights }: SelectionPoint): Float64Array {
  const byName = new Map(chosen.map((f, k) => [model.signals[f] as string, weights[k] as number]));
  return chooseParameterValues(model, ({ labels }) => labels.map((label) => byName.get(label) ?? 0));
}

type SelectionOptions = Pick<TrainingOptions, 'l2' | 'epochs' | 'seed' | 'metric'> & GreedySelection;

/**
 * Chooses signals of a linear model one at a time on the listwise softmax loss with targets grade / sum of grades, in
 * float64 on the host. Paths are nested, so one path has the weights of every number of signals. With a validation table
 * the best of `sizes` is kept, without one the last point. An epoch of the curve is a chosen signal. The same options
 * and tables give the same result.
 *
 * @throws ValidationError for another model, or if no query has a relevant candidate; the reason of the signal if aborted
 */
export async function selectGreedily(
  model: ScoringModel,
  table: FeatureTable,
  validation: FeatureTable | null,
  { l2, epochs, seed, metric: id, sizes }: SelectionOptions,
  { signal, progress }: TrainingHooks = {},
): Promise<TrainingResult> {
  assertLinear(model);
  const rough = await scoreTable(model, listHandTunedValues(model), table);
  const rows = gatherSelectionRows(model, table, rough, seed);
  const used = rows.starts.length - 1;
  if (used === 0)
    throw new ValidationError(
      `none of ${table.queryIds.length} queries has a relevant candidate to learn from; add queries or candidates`,
    );
  const bar = (progress ?? ignoreProgress)('selection of signals', epochs);
  const scorer = validation === null ? null : new TableScorer(model, validation);
  try {
    const metric = validation === null ? null : createTableMetric(validation, id);
    const measure = async (values: Float64Array) =>
      scorer === null || metric === null ? null : metric.mean(await scorer.scoreWith(values));
    let at = computeSelectionPoint(rows, [], new Float64Array(), l2);
    const values = [listValues(model, at)];
    const curve: CurvePoint[] = [{ epoch: 0, loss: null, validation: await measure(values[0] as Float64Array) }];
    for await (const point of takeFirst(walkSelectionPath(rows, l2), epochs)) {
      signal?.throwIfAborted();
      at = point;
      values.push(listValues(model, at));
      curve.push({ epoch: values.length - 1, loss: at.loss, validation: await measure(values.at(-1) as Float64Array) });
      bar.update(values.length - 1);
    }
    const bestEpoch = validation === null ? curve.length - 1 : findBestSize(curve, { sizes });
    bar.finish(`${bestEpoch} of ${model.signals.length} signals`);
    const best = values[bestEpoch] as Float64Array;
    const path = at.chosen.slice(0, bestEpoch).map((f) => model.signals[f] as string);
    const leftOut = table.queryIds.length - used;
    return displayTraining({ values: best, theta: freeValues(model, best), bestEpoch, curve, leftOut, path }, model);
  } finally {
    scorer?.dispose();
  }
}

/** The values of a model without each signal of a selection, the others fitted again, in the order of the path. */
export async function refitWithoutEach(
  model: LinearModel,
  table: FeatureTable,
  { values, path }: { readonly values: Float64Array; readonly path: readonly string[] },
  { l2, seed }: Pick<TrainingOptions, 'l2' | 'seed'>,
): Promise<Float64Array[]> {
  const rough = await scoreTable(model, listHandTunedValues(model), table);
  const rows = gatherSelectionRows(model, table, rough, seed);
  const weights: Record<string, number> = Object.assign({}, ...Object.values(nameParameterValues(model, values)));
  const found: Float64Array[] = [];
  for (const left of path) {
    await letEventsIn();
    const others = path.filter((name) => name !== left);
    const chosen = others.map((name) => model.signals.indexOf(name));
    const start = Float64Array.from(others, (name) => weights[name] as number);
    found.push(listValues(model, minimiseLoss(rows, computeSelectionPoint(rows, chosen, start, l2), l2)));
  }
  return found;
}

async function* takeFirst<T>(items: AsyncGenerator<T>, count: number): AsyncGenerator<T> {
  if (count === 0) return;
  let taken = 0;
  for await (const item of items) {
    yield item;
    if (++taken === count) return;
  }
}

/** The size with the best validation, the smallest of equal ones. */
function findBestSize(curve: readonly CurvePoint[], select: GreedySelection): number {
  const read = (epoch: number) => curve[epoch]?.validation as number;
  const sizes = listEpochsToChoose(curve.length - 1, select);
  return sizes.reduce((best, epoch) => (read(epoch) > read(best) ? epoch : best));
}
