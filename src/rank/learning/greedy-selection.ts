import { ValidationError } from '../../core/errors/errors.ts';
import { createRandom } from '../../core/numbers/random.ts';
import { createEventBreaks, ignoreProgress } from '../../core/terminal/progress.ts';
import { type FeatureTable, selectQueries } from './feature-table.ts';
import { createTableMetric, findBestSlots } from './fit-options.ts';
import { displayTraining } from './learning-display.ts';
import type { LinearModel } from './linear-model.ts';
import {
  computeDerivatives,
  computeListwiseLoss,
  type ListwisePoint,
  type ListwiseRows,
  minimiseLoss,
} from './listwise-newton.ts';
import { type LossOptions, listUsableQueries } from './losses.ts';
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

/** The numbers of signals among which validation chooses; ascending. */
export interface GreedySelection {
  readonly sizes: readonly number[];
}

/** The epochs that validation chooses between: all from the start to the last, or the sizes that a selection reached. */
export function listEpochsToChoose(last: number, select?: GreedySelection): number[] {
  if (select === undefined) return Array.from({ length: last + 1 }, (_, epoch) => epoch);
  return select.sizes.map((size) => Math.min(size, last));
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

/** The target of a candidate before all of a query are divided by their sum: its grade, or 1 if it is relevant. */
function readTarget({ grades, relevantGrade }: FeatureTable, pair: number, loss: LossOptions['name']): number {
  const grade = grades[pair] as number;
  return loss === 'infonce' ? Number(grade >= relevantGrade) : Math.max(0, grade);
}

/** Rows of the queries with a relevant candidate, and these queries. @param rough row-major [Q, C] */
export async function gatherSelectionRows(
  model: LinearModel,
  table: FeatureTable,
  rough: Float32Array,
  { seed, loss: { name: loss } }: Pick<TrainingOptions, 'seed' | 'loss'>,
): Promise<ListwiseRows & { readonly queries: readonly number[] }> {
  const queries = [...listUsableQueries(table, { name: loss })];
  const drawn = queries.map((query) => drawQueryRows(table, query, rough, seed));
  const starts = new Int32Array(queries.length + 1);
  for (const [q, { pairs }] of drawn.entries()) starts[q + 1] = starts[q]! + pairs.length;
  const count = starts[queries.length] as number;
  const { signals } = model;
  const columns = signals.map(() => new Float32Array(count));
  const targets = new Float64Array(count);
  const offsets = new Float64Array(count);
  const pause = createEventBreaks();
  for (const [q, { pairs, certain, offset }] of drawn.entries()) {
    await pause();
    const query = queries[q] as number;
    const values = model.standardise(selectQueries(table, [query]), signals); // [C, F]
    const sum = pairs.reduce((total, pair) => total + readTarget(table, pair, loss), 0);
    for (const [i, pair] of pairs.entries()) {
      const row = starts[q]! + i;
      const from = (pair - query * table.width) * signals.length;
      for (let f = 0; f < signals.length; f++) columns[f]![row] = values[from + f]!;
      targets[row] = readTarget(table, pair, loss) / sum;
      offsets[row] = i < certain ? 0 : offset;
    }
  }
  const free = new Set(model.parameters.filter(({ constraint }) => constraint === 'free').flatMap((one) => one.labels));
  return { starts, columns, targets, offsets, bounded: signals.map((signal) => !free.has(signal)), queries };
}

/** The signal with the greatest g^2 / (h + {@link DAMPING}) that is not chosen, or null if none has a slope. */
async function findSteepestSignal(rows: ListwiseRows, at: ListwisePoint, pause: () => Promise<void>) {
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
 * loss, all of them fitted again. Ends at a number of signals, or when no signal lowers the loss. A step costs O(N F)
 * for the choice and O(N K^2) for each Newton step.
 */
export async function* walkSelectionPath(
  rows: ListwiseRows,
  l2: number,
  most = rows.columns.length,
): AsyncGenerator<ListwisePoint> {
  const pause = createEventBreaks();
  let at = computeListwiseLoss(rows, [], new Float64Array(), l2);
  while (at.chosen.length < Math.min(most, rows.columns.length)) {
    const best = await findSteepestSignal(rows, at, pause);
    if (best === null) return;
    const start = { ...at, chosen: [...at.chosen, best], weights: Float64Array.of(...at.weights, 0) };
    const next = await minimiseLoss(rows, start, l2);
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
function listValues(model: LinearModel, { chosen, weights }: ListwisePoint): Float64Array {
  const byName = new Map(chosen.map((f, k) => [model.signals[f] as string, weights[k] as number]));
  return chooseParameterValues(model, ({ labels }) => labels.map((label) => byName.get(label) ?? 0));
}

type SelectionOptions = Pick<TrainingOptions, 'loss' | 'l2' | 'epochs' | 'seed' | 'metric'> & GreedySelection;

/**
 * Chooses signals of a linear model one at a time on the softmax loss, in float64 on the host. The targets are grade /
 * sum of grades, or with `infonce` the relevant candidates in equal parts. Paths are nested, so one path has the
 * weights of every number of signals. With a validation table the best of `sizes` is kept, without one the last
 * point. An epoch of the curve is a chosen signal. The same options and tables give the same result.
 *
 * @throws ValidationError for another model, or if no query has a relevant candidate; the reason of the signal if
 *   aborted
 */
export async function selectGreedily(
  model: ScoringModel,
  table: FeatureTable,
  validation: FeatureTable | null,
  { loss, l2, epochs, seed, metric: id, sizes }: SelectionOptions,
  { signal, progress }: TrainingHooks = {},
): Promise<TrainingResult> {
  assertLinear(model);
  const rough = await scoreTable(model, listHandTunedValues(model), table);
  const rows = await gatherSelectionRows(model, table, rough, { seed, loss });
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
    let at = computeListwiseLoss(rows, [], new Float64Array(), l2);
    const values = [listValues(model, at)];
    const curve: CurvePoint[] = [{ epoch: 0, loss: null, validation: await measure(values[0] as Float64Array) }];
    for await (const point of walkSelectionPath(rows, l2, epochs)) {
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
  { loss, l2, seed }: Pick<TrainingOptions, 'loss' | 'l2' | 'seed'>,
): Promise<Float64Array[]> {
  const rough = await scoreTable(model, listHandTunedValues(model), table);
  const rows = await gatherSelectionRows(model, table, rough, { seed, loss });
  const weights: Record<string, number> = Object.assign({}, ...Object.values(nameParameterValues(model, values)));
  const found: Float64Array[] = [];
  for (const left of path) {
    const others = path.filter((name) => name !== left);
    const chosen = others.map((name) => model.signals.indexOf(name));
    const start = Float64Array.from(others, (name) => weights[name] as number);
    const point = await minimiseLoss(rows, computeListwiseLoss(rows, chosen, start, l2), l2);
    found.push(listValues(model, point));
  }
  return found;
}

/** The size with the best validation, the smallest of equal ones. */
function findBestSize(curve: readonly CurvePoint[], select: GreedySelection): number {
  const read = (epoch: number) => curve[epoch]?.validation as number;
  const sizes = listEpochsToChoose(curve.length - 1, select);
  return sizes.reduce((best, epoch) => (read(epoch) > read(best) ? epoch : best));
}
