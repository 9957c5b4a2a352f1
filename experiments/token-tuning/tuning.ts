import { createRandom } from '../../src/core/numbers/random.ts';
import { letEventsIn, type StartProgress } from '../../src/core/terminal/progress.ts';
import { getOrCompute } from '../../src/core/values/once.ts';
import { formatDecimal } from '../../src/lab/report/tables/format.ts';
import { createAdamState, takeAdamStep } from '../../src/rank/learning/adam.ts';
import { selectQueries } from '../../src/rank/learning/feature-table.ts';
import { createTableMetric } from '../../src/rank/learning/fit-options.ts';
import { drawBalancedFolds } from '../../src/rank/learning/folds.ts';
import { LEAST_LATE } from '../../src/rank/signals/late.ts';
import { computeTokenLoss, countNumbers, scoreTokens, type TokenModel } from './token-model.ts';
import type { Pairing, TokenBatches } from './token-questions.ts';

/** Questions that are scored together. */
const SCORED = 16;

/** Options of training the numbers of a model. */
export interface TokenTraining {
  readonly seed: number;
  readonly learningRate: number;
  /** The most passes over the questions; inner folds stop earlier. */
  readonly epochs: number;
  /** Questions in a step, which share the vectors of their turns. */
  readonly batch: number;
  /** Irrelevant turns that the questions of a step are compared with, drawn again in each epoch. */
  readonly turns: number;
  /** Questions of an epoch, drawn again in each; null for all. */
  readonly questions: number | null;
}

/** Numbers to train, and their scores. */
export interface Tunable {
  readonly model: TokenModel;
  readonly start: Float64Array;
  readonly batches: TokenBatches;
  /** Scores of all candidates of rows, row-major [rows, C]. */
  score(theta: Float64Array, rows: Int32Array): Promise<Float32Array>;
}

/** The numbers that change nothing. */
export function drawTokenStart(model: TokenModel, seed: number): Float64Array {
  const theta = new Float64Array(countNumbers(model));
  theta.set(model.form.drawStart(createRandom(seed, 'start of tokens')));
  return theta;
}

/** Groups of at most `size` rows, each in the order given. */
const cut = (rows: readonly number[], size: number) =>
  Array.from({ length: Math.ceil(rows.length / size) }, (_, i) => rows.slice(i * size, (i + 1) * size));

/** Rows by conversation. */
function groupRows(rows: readonly number[], clusters: readonly string[]): number[][] {
  const groups = new Map<string, number[]>();
  for (const row of rows) getOrCompute(groups, clusters[row] as string, () => []).push(row);
  return [...groups.values()];
}

/** The steps of an epoch: rows of one conversation each, in an order that the seed draws. */
function drawSteps(rows: Int32Array, clusters: readonly string[], epoch: number, { seed, ...given }: TokenTraining) {
  const random = createRandom(seed, `token epoch ${epoch}`);
  const drawn = random.shuffle([...rows]).slice(0, given.questions ?? rows.length);
  return random.shuffle(groupRows(drawn, clusters).flatMap((own) => cut(own, given.batch)));
}

/** Other ways to train. */
export interface TrainingChange {
  readonly pairing?: Pairing;
  /** True if the questions of a step follow each other in time, in place of being of one conversation. */
  readonly isInOrder?: boolean;
  /** Gets the numbers after each epoch, 0 for the start. */
  readonly onEpoch?: (theta: Float64Array, epoch: number) => Promise<void>;
}

/** Trains on rows. @returns the numbers after the last epoch. */
export async function trainTokens(
  { model, start, batches }: Tunable,
  rows: Int32Array,
  training: TokenTraining,
  { pairing = {}, isInOrder = false, onEpoch = async () => {} }: TrainingChange = {},
): Promise<Float64Array> {
  const { seed, learningRate, turns: most, epochs } = training;
  const { clusters } = batches.questions.table;
  const usable = rows.filter((row) => (pairing.labels?.get(row) ?? batches.listGrades(row)).size > 0);
  let adam = createAdamState(start);
  await onEpoch(adam.theta, 0);
  for (let epoch = 1; epoch <= epochs; epoch++) {
    const steps = isInOrder ? cut([...usable], training.batch) : drawSteps(usable, clusters, epoch, training);
    for (const step of steps) {
      const batch = batches.make(step, { most, seed: seed + epoch }, pairing);
      const { gradient } = await computeTokenLoss(model, adam.theta, batch);
      adam = takeAdamStep(adam, gradient, { learningRate });
      await letEventsIn();
    }
    await onEpoch(adam.theta, epoch);
  }
  return adam.theta;
}

/** Scores of all candidates of rows, row-major [rows, C]. */
export async function scoreRows(
  model: TokenModel,
  theta: Float64Array,
  batches: TokenBatches,
  rows: Int32Array,
): Promise<Float32Array> {
  const { positions, table } = batches.questions;
  const { width } = table;
  const scores = new Float32Array(rows.length * width).fill(LEAST_LATE);
  const places = new Map(Array.from(rows, (row, i) => [row, i]));
  for (const group of groupRows([...rows], table.clusters).flatMap((own) => cut(own, SCORED))) {
    const batch = batches.make(group, null);
    const found = await scoreTokens(model, theta, batch);
    const at = new Map(batch.positions.map((position, n) => [position, n]));
    for (const [i, row] of group.entries())
      for (let c = 0; c < width; c++) {
        const n = at.get(positions[row * width + c] as number);
        if (n !== undefined) scores[places.get(row)! * width + c] = found[i * at.size + n] as number;
      }
    await letEventsIn();
  }
  return scores;
}

/** The validation of each number of epochs from 0 on, on rows that the inner folds hold out. */
async function validateEpochs(tunable: Tunable, rows: Int32Array, training: TokenTraining, { folds, metric }: Inner) {
  const { table } = tunable.batches.questions;
  const clusters = Array.from(rows, (row) => table.clusters[row] as string);
  const sums = new Float64Array(training.epochs + 1);
  for (const inner of drawBalancedFolds({ clusters }, folds, training.seed)) {
    const [own, held] = [inner.training, inner.heldOut].map((part) => part.map((i) => rows[i] as number)) as [
      Int32Array,
      Int32Array,
    ];
    const judge = createTableMetric(selectQueries(table, held), metric);
    const onEpoch = async (theta: Float64Array, epoch: number) => {
      sums[epoch]! += judge.values(await tunable.score(theta, held)).reduce((sum, value) => sum + value, 0);
    };
    await trainTokens(tunable, own, training, { onEpoch });
  }
  return [...sums].map((sum) => sum / rows.length);
}

/** The folds that stop a training, and their metric. */
interface Inner {
  readonly folds: number;
  readonly metric: string;
}

/** Numbers that were trained for as many epochs as inner folds chose; 0 epochs leave the start. */
export interface Tuned {
  readonly theta: Float64Array;
  readonly epochs: number;
  /** The metric of each number of epochs from 0 on. */
  readonly validation: readonly number[];
}

/** Trains on rows for the number of epochs that their inner folds choose. */
export async function tuneTokens(
  tunable: Tunable,
  rows: Int32Array,
  training: TokenTraining,
  inner: Inner,
  progress: StartProgress,
): Promise<Tuned> {
  const stage = progress('token epochs', training.epochs);
  const validation = await validateEpochs(tunable, rows, training, inner);
  const epochs = validation.indexOf(Math.max(...validation));
  stage.finish(`${inner.metric} ${validation.map((value) => formatDecimal(value, 3)).join(', ')}`);
  return { epochs, validation, theta: await trainTokens(tunable, rows, { ...training, epochs }) };
}

/** Null controls: questions get the judgements, or turns the tokens, of others of their conversation. */
export function drawControls(batches: TokenBatches, rows: Int32Array, seed: number): Record<string, Pairing> {
  const { positions, table, turns } = batches.questions;
  const random = createRandom(seed, 'token controls');
  const permute = (of: readonly number[]): [number, number][] => {
    const to = random.shuffle([...of]);
    return of.map((one, i) => [one, to[i] as number]);
  };
  const byConversation = groupRows([...rows], table.clusters);
  const labels = byConversation.flatMap(permute).map(([row, other]) => [row, batches.listGrades(other)] as const);
  const tokens = byConversation.flatMap((own) => {
    const seen = own.flatMap((row) => [...positions.subarray(row * table.width, (row + 1) * table.width)]);
    return permute([...new Set(seen)].filter((position) => (turns.get(position)?.ids.length ?? 0) > 0));
  });
  return { 'shuffled labels': { labels: new Map(labels) }, 'shuffled tokens': { tokens: new Map(tokens) } };
}
