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
import { constrainValues } from './parameters.ts';
import { createSteps, listFreeHandTuned, type StepOptions, type StepPlace } from './training-steps.ts';

/**
 * The loss, the steps of Adam, the regularisation and early stopping of a training; {@link TRAINING_DEFAULTS} has
 * values for all but the metric.
 */
export interface TrainingOptions extends StepOptions {
  readonly loss: LossOptions;
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
  /** By default the `device` where a read-back waits for it, and else the `host`. */
  readonly steps?: StepPlace;
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

/** A training after an epoch. */
interface TrainingState {
  readonly theta: Float64Array;
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

/** A training whose tables are on the device. */
class Training {
  readonly #options: TrainingOptions;
  readonly #objectives: readonly TrainingObjective[];
  readonly #scorer: TableScorer | null;
  readonly #validate: (scores: Float32Array | null) => number | null;
  readonly #steps: ReturnType<typeof createSteps>;
  readonly #start: Float64Array;

  constructor({ model, validation }: TrainedTable, uploaded: UploadedTables, options: TrainingOptions) {
    this.#options = options;
    this.#objectives = uploaded.objectives;
    this.#scorer = uploaded.scorer;
    const metric = validation && createTableMetric(validation, options.metric);
    this.#validate = (scores) => (metric === null ? null : metric.mean(scores as Float32Array));
    this.#start = drawStart(model, options);
    this.#steps = createSteps(model, this.#start, options, options.steps);
  }

  async start(): Promise<TrainingState> {
    const theta = this.#start;
    const { scores } = await this.#steps.runEpoch([], this.#scorer);
    return { theta, best: { epoch: 0, theta }, curve: [{ epoch: 0, loss: null, validation: this.#validate(scores) }] };
  }

  /** True if another epoch follows a state. */
  isOver({ curve, best }: TrainingState): boolean {
    const epoch = curve.length - 1;
    return epoch >= this.#options.epochs || (this.#scorer !== null && epoch - best.epoch >= this.#options.patience);
  }

  async runEpoch({ best, curve }: TrainingState): Promise<TrainingState> {
    const epoch = curve.length;
    const stream = createRandom(this.#options.seed, `training epoch ${epoch}`);
    const objectives = stream.shuffle([...this.#objectives]);
    const { theta, losses, scores } = await this.#steps.runEpoch(objectives, this.#scorer);
    const sum = objectives.reduce((total, { used }, i) => total + losses[i]! * used, 0);
    const queries = objectives.reduce((total, { used }) => total + used, 0);
    const validation = this.#validate(scores);
    const bar = curve[best.epoch]?.validation ?? Number.NEGATIVE_INFINITY;
    const isBest = validation === null || validation > bar;
    return {
      theta,
      best: isBest ? { epoch, theta } : best,
      curve: [...curve, { epoch, loss: sum / queries, validation }],
    };
  }

  dispose(): void {
    this.#steps.dispose();
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

/** A model and the table that it is fitted to. */
export interface TrainedTable {
  readonly model: ScoringModel;
  readonly table: FeatureTable;
  /** Says which epoch is the best; null for the last one. */
  readonly validation: FeatureTable | null;
}

/** Its tables on the device. */
interface UploadedTables {
  readonly objectives: readonly TrainingObjective[];
  readonly scorer: TableScorer | null;
}

/**
 * Trains a model on a table several times. The tables stay on the device until it is disposed; queries are uploaded
 * again for options with another loss or other batches.
 */
export class Trainer {
  readonly data: TrainedTable;
  #batches = '';
  #objectives: TrainingObjective[] = [];
  #scorer: TableScorer | null = null;

  constructor(data: TrainedTable) {
    this.data = data;
  }

  /**
   * A training from the start, as {@link train} describes it.
   *
   * @param given by default {@link TRAINING_DEFAULTS}.
   */
  async train(given: Partial<TrainingOptions> = {}, hooks: TrainingHooks = {}): Promise<TrainingResult> {
    const { model, table } = this.data;
    const options = { ...TRAINING_DEFAULTS, ...given };
    const usable = listUsableQueries(table, options.loss);
    await ensureBackend();
    const training = new Training(this.data, this.#upload(usable, options), options);
    try {
      const { best, curve } = await run(training, hooks, options.epochs);
      const leftOut = table.queryIds.length - usable.length;
      const { theta, epoch: bestEpoch } = best;
      return displayTraining({ values: constrainValues(model, theta), theta, bestEpoch, curve, leftOut }, model);
    } finally {
      training.dispose();
    }
  }

  #upload(usable: Int32Array, options: TrainingOptions): UploadedTables {
    const { model, table, validation } = this.data;
    const { loss, batchSize, seed } = options;
    const batches = JSON.stringify([loss, batchSize, batchSize === null ? null : seed]);
    if (batches !== this.#batches) {
      this.#disposeObjectives();
      for (const batch of drawBatches(usable, options)) {
        const part = batch.length === table.queryIds.length ? table : selectQueries(table, batch);
        this.#objectives.push(new TrainingObjective(model, part, loss));
      }
      this.#batches = batches;
    }
    if (validation !== null) this.#scorer ??= new TableScorer(model, validation);
    return { objectives: this.#objectives, scorer: this.#scorer };
  }

  #disposeObjectives(): void {
    for (const objective of this.#objectives) objective.dispose();
    this.#objectives = [];
    this.#batches = '';
  }

  dispose(): void {
    this.#disposeObjectives();
    this.#scorer?.dispose();
    this.#scorer = null;
  }
}

/** Uses a trainer and disposes it. */
export async function withTrainer<T>(data: TrainedTable, use: (trainer: Trainer) => Promise<T>): Promise<T> {
  const trainer = new Trainer(data);
  try {
    return await use(trainer);
  } finally {
    trainer.dispose();
  }
}

/**
 * Fits a model's parameters to a table by Adam; the gradients come from the active backend. With a validation table the
 * parameters of its best epoch are kept (the start counts as one) and training stops when no better one comes; without,
 * those of the last epoch. The same options and tables on the same backend give the same parameters, bit for bit.
 *
 * @param given by default {@link TRAINING_DEFAULTS}.
 * @throws ValidationError if no query has a relevant candidate; the reason of the signal if training is aborted.
 */
export function train(
  model: ScoringModel,
  table: FeatureTable,
  validation: FeatureTable | null,
  given: Partial<TrainingOptions> = {},
  hooks: TrainingHooks = {},
): Promise<TrainingResult> {
  return withTrainer({ model, table, validation }, (trainer) => trainer.train(given, hooks));
}
