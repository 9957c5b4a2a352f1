import { createRandom } from '../../core/numbers/random.ts';
import { ensureBackend } from '../../core/tensors/backend.ts';
import { ignoreProgress, letEventsIn, type StartProgress } from '../../core/terminal/progress.ts';
import { freezeDeeply } from '../../core/values/once.ts';
import { type FeatureTable, selectQueries } from './feature-table.ts';
import { createTableMetric } from './fit-options.ts';
import { displayTraining } from './learning-display.ts';
import { type LossOptions, listUsableQueries } from './losses.ts';
import { type ScoringModel, TableScorer } from './model.ts';
import { TrainingObjective } from './objective.ts';
import { constrainValues, freeValues, listHandTunedValues } from './parameters.ts';

/** The state of an optimisation by Adam. */
interface AdamState {
  readonly step: number;
  /** [P] running means of the gradient and of its square. */
  readonly first: Float64Array;
  readonly second: Float64Array;
}

const FIRST_DECAY = 0.9;
const SECOND_DECAY = 0.999;
const EPSILON = 1e-8;

/**
 * The state of Adam before the first step: step 0 and running means of 0.
 *
 * @param count the number P of free numbers.
 */
export function createAdamState(count: number): AdamState {
  return { step: 0, first: new Float64Array(count), second: new Float64Array(count) };
}

/**
 * One step of Adam (kingma2015adam, algorithm 1). On the host in float64: there are a few dozen numbers, and a state of
 * plain numbers can be stored, so that an interrupted training resumes to the same result.
 *
 * @param theta [P]
 * @param gradient [P]
 */
export function takeAdamStep(theta: Float64Array, gradient: Float64Array, state: AdamState, learningRate: number) {
  const step = state.step + 1;
  const first = state.first.map((mean, i) => FIRST_DECAY * mean + (1 - FIRST_DECAY) * gradient[i]!);
  const second = state.second.map((mean, i) => SECOND_DECAY * mean + (1 - SECOND_DECAY) * gradient[i]! ** 2);
  const firstScale = 1 / (1 - FIRST_DECAY ** step);
  const secondScale = 1 / (1 - SECOND_DECAY ** step);
  const next = theta.map(
    (x, i) => x - (learningRate * first[i]! * firstScale) / (Math.sqrt(second[i]! * secondScale) + EPSILON),
  );
  return { theta: next, state: { step, first, second } };
}

/**
 * The loss, the steps of Adam, the regularisation and early stopping of a training; {@link TRAINING_DEFAULTS} has
 * values for all but the metric.
 */
export interface TrainingOptions {
  readonly loss: LossOptions;
  readonly learningRate: number;
  /** Weight of the squared distance of the free numbers from the hand-tuned start. */
  readonly l2: number;
  /** Passes over the training queries, at most. */
  readonly epochs: number;
  /** Epochs without a better validation after which training stops. */
  readonly patience: number;
  /** The metric of early stopping; by default nDCG@10. */
  readonly metric?: string;
  /** Queries in a step; null for all of them. */
  readonly batchSize: number | null;
  readonly seed: number;
  /** Deviation of the normal noise on the free numbers at the start, which distinguishes seeds. */
  readonly startNoise: number;
}

/** Options of {@link train}, as of a fit. */
export const TRAINING_DEFAULTS: TrainingOptions = freezeDeeply({
  loss: { name: 'infonce', temperature: 1 },
  learningRate: 0.05,
  l2: 0.0003,
  epochs: 60,
  patience: 8,
  batchSize: 128,
  seed: 1,
  startNoise: 0.01,
});

/** One point of the learning curve; epoch 0 is the start. A type, so that it can be kept as JSON. */
export type CurvePoint = {
  readonly epoch: number;
  /** Mean of the training queries during the epoch, null at the start. */
  readonly loss: number | null;
  /** The metric after the epoch, null without validation. */
  readonly validation: number | null;
};

/** The state of a training after an epoch. */
interface TrainingState {
  readonly theta: Float64Array;
  readonly adam: AdamState;
  readonly best: { readonly epoch: number; readonly theta: Float64Array };
  readonly curve: readonly CurvePoint[];
}

/** A trained model of P parameters: their values at the best epoch, and the learning curve. */
export interface TrainingResult {
  /** [P] the parameters of the best epoch, in their domains. */
  readonly values: Float64Array;
  /** [P] the free numbers that they come from. */
  readonly theta: Float64Array;
  /** By validation; the last epoch without validation. */
  readonly bestEpoch: number;
  readonly curve: readonly CurvePoint[];
  /** Training queries without anything to learn from. */
  readonly leftOut: number;
  /** The signals that a selection chose, in the order of their choice. */
  readonly path?: readonly string[];
}

/** Stops a training and reports its progress; by default it runs to the end without a report. */
export interface TrainingHooks {
  /** Once aborted, its reason is thrown before the next epoch. */
  readonly signal?: AbortSignal;
  readonly progress?: StartProgress;
}

/**
 * Draws the queries of each step once: a step's queries then stay on the device, and epochs differ in the order of the
 * steps.
 */
function drawBatches(usable: Int32Array, { batchSize, seed }: TrainingOptions): Int32Array[] {
  if (batchSize === null || batchSize >= usable.length) return [usable];
  const shuffled = Int32Array.from(createRandom(seed, 'training batches').shuffle([...usable]));
  const count = Math.ceil(shuffled.length / batchSize);
  return Array.from({ length: count }, (_, i) => shuffled.subarray(i * batchSize, (i + 1) * batchSize));
}

function drawStart(model: ScoringModel, { seed, startNoise }: TrainingOptions): Float64Array {
  const stream = createRandom(seed, 'training start');
  return listFreeHandTuned(model).map((number) => number + startNoise * stream.drawNormal());
}

function listFreeHandTuned(model: ScoringModel): Float64Array {
  return freeValues(model, listHandTunedValues(model));
}

/** A training whose tables are on the device. */
class Training {
  readonly #model: ScoringModel;
  readonly #options: TrainingOptions;
  readonly #objectives: TrainingObjective[] = [];
  readonly #anchor: Float64Array;
  #validate: ((values: Float64Array) => Promise<number>) | null = null;
  #scorer: TableScorer | null = null;

  constructor(model: ScoringModel, options: TrainingOptions) {
    this.#model = model;
    this.#options = options;
    this.#anchor = listFreeHandTuned(model);
  }

  upload(table: FeatureTable, batches: readonly Int32Array[], validation: FeatureTable | null): void {
    for (const batch of batches) {
      const part = batch.length === table.queryIds.length ? table : selectQueries(table, batch);
      this.#objectives.push(new TrainingObjective(this.#model, part, this.#options.loss));
    }
    if (validation === null) return;
    const scorer = new TableScorer(this.#model, validation);
    this.#scorer = scorer;
    const metric = createTableMetric(validation, this.#options.metric);
    this.#validate = async (values) => metric.mean(await scorer.scoreWith(values));
  }

  async start(): Promise<TrainingState> {
    const theta = drawStart(this.#model, this.#options);
    const validation = await this.#measureValidation(theta);
    return {
      theta,
      adam: createAdamState(theta.length),
      best: { epoch: 0, theta },
      curve: [{ epoch: 0, loss: null, validation }],
    };
  }

  /** True if another epoch follows a state. */
  isOver({ curve, best }: TrainingState): boolean {
    const epoch = curve.length - 1;
    return epoch >= this.#options.epochs || (this.#validate !== null && epoch - best.epoch >= this.#options.patience);
  }

  async runEpoch({ theta: from, adam: before, best, curve }: TrainingState): Promise<TrainingState> {
    const { seed, learningRate } = this.#options;
    const epoch = curve.length;
    let theta = from;
    let adam = before;
    let sum = 0;
    let queries = 0;
    for (const objective of createRandom(seed, `training epoch ${epoch}`).shuffle([...this.#objectives])) {
      const { loss, gradient } = await objective.computeLossAt(theta);
      ({ theta, state: adam } = takeAdamStep(theta, this.#penaliseGradient(theta, gradient), adam, learningRate));
      sum += loss * objective.used;
      queries += objective.used;
    }
    const validation = await this.#measureValidation(theta);
    const bar = curve[best.epoch]?.validation ?? Number.NEGATIVE_INFINITY;
    const isBest = validation === null || validation > bar;
    return {
      theta,
      adam,
      best: isBest ? { epoch, theta } : best,
      curve: [...curve, { epoch, loss: sum / queries, validation }],
    };
  }

  #penaliseGradient(theta: Float64Array, gradient: Float64Array): Float64Array {
    const { l2 } = this.#options;
    return gradient.map((slope, i) => slope + 2 * l2 * (theta[i]! - this.#anchor[i]!));
  }

  #measureValidation(theta: Float64Array): Promise<number | null> {
    return this.#validate === null ? Promise.resolve(null) : this.#validate(constrainValues(this.#model, theta));
  }

  dispose(): void {
    for (const objective of this.#objectives) objective.dispose();
    this.#scorer?.dispose();
  }
}

/** Epochs until it is over, with what happens between them. */
async function run(training: Training, { signal, progress }: TrainingHooks, epochs: number): Promise<TrainingState> {
  const bar = (progress ?? ignoreProgress)('training', epochs);
  let state = await training.start();
  while (!training.isOver(state)) {
    await letEventsIn();
    signal?.throwIfAborted();
    state = await training.runEpoch(state);
    bar.update(state.curve.length - 1);
  }
  bar.finish(`best epoch ${state.best.epoch} of ${state.curve.length - 1}`);
  return state;
}

/**
 * Fits a model's parameters to a table: gradients on the active backend, steps of Adam on the host. With a validation
 * table the parameters of its best epoch are kept (the start counts as one) and training stops when no better one
 * comes; without, those of the last epoch. The same options and tables on the same backend give the same parameters,
 * bit for bit.
 *
 * @param given by default {@link TRAINING_DEFAULTS}.
 * @throws ValidationError if no query has a relevant candidate; the reason of the signal if training is aborted.
 */
export async function train(
  model: ScoringModel,
  table: FeatureTable,
  validation: FeatureTable | null,
  given: Partial<TrainingOptions> = {},
  hooks: TrainingHooks = {},
): Promise<TrainingResult> {
  const options = { ...TRAINING_DEFAULTS, ...given };
  const usable = listUsableQueries(table, options.loss);
  await ensureBackend();
  const training = new Training(model, options);
  try {
    training.upload(table, drawBatches(usable, options), validation);
    const { best, curve } = await run(training, hooks, options.epochs);
    const leftOut = table.queryIds.length - usable.length;
    const { theta, epoch: bestEpoch } = best;
    return displayTraining({ values: constrainValues(model, theta), theta, bestEpoch, curve, leftOut }, model);
  } finally {
    training.dispose();
  }
}
