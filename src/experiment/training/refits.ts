import { letEventsIn } from '../../core/event-loop.ts';
import { silent } from '../../core/progress.ts';
import type { Estimate } from '../../evaluation/mean-intervals.ts';
import { fitPoint } from '../../learning/cross-validation.ts';
import { exchangeSignals } from '../../learning/exchanged-signals.ts';
import { changedFeatures, type FeatureSource } from '../../learning/feature-source.ts';
import { scoreTable } from '../../learning/table-scorer.ts';
import type { Run } from '../../model/run.ts';
import { signalParts } from '../../retrieval/signal-bank/signal-parts.ts';
import { chosenPoint, type FoldOutcome, selectionPlan } from './fitted-methods.ts';
import type { HeldOutRows } from './held-out-rows.ts';
import { measureMethods } from './measured-methods.ts';
import { jobKey, type ModelJob } from './model-job.ts';
import { signalFamilies } from './signal-families.ts';
import { modelSignals } from './training-models.ts';
import type { Importance, NullControl } from './training-result.ts';

/** What the learned method of a model is refitted by: its folds with what each chose, and its rankings, which a refit is compared with. */
export interface Validated {
  readonly rows: HeldOutRows;
  readonly outcomes: readonly FoldOutcome[];
  readonly learned: Run;
}

type LinearOptions = Extract<ModelJob['options'], { name: 'linear' }>;

/** A refit, and how it does beside the learned method. */
interface Refit {
  readonly name: string;
  readonly signals: readonly string[];
  readonly metrics: Readonly<Record<string, Estimate>>;
  readonly comparisons: Importance['comparisons'];
}

/** The control of all signals that some other exchanges. */
const ALL_PARTS = 'all of these';

/** Scores of every row by a model trained again on the other folds, with what each fold had chosen. */
async function refitScores(
  { config }: ModelJob,
  { rows, outcomes }: Validated,
  source: FeatureSource,
  model: ModelJob['options'],
): Promise<Float32Array> {
  const scores: Float32Array[] = [];
  for (const [f, { training, heldOut, clusters }] of rows.folds.entries()) {
    const point = chosenPoint(config, outcomes[f] as FoldOutcome);
    const fit = await fitPoint(await source.rowsFor(training, clusters), point, selectionPlan(config, model));
    scores.push(await scoreTable(fit.model, fit.values, await source.rowsFor(heldOut, clusters)));
    await letEventsIn();
  }
  return rows.joined(scores);
}

/** Refits a model once for each set of signals, and measures what comes out beside the learned method. @param name what progress calls it */
async function refits(
  job: ModelJob,
  validated: Validated,
  name: string,
  sets: ReadonlyMap<string, readonly string[]>,
  refit: (signals: readonly string[]) => Promise<Float32Array>,
): Promise<Refit[]> {
  const { task, config, progress = silent } = job;
  const shown = progress(name, sets.size);
  const stage = name.replaceAll(' ', '-');
  const runs = new Map([['learned', validated.learned]]);
  for (const [set, signals] of sets) {
    const compute = async () => ({ scores: await refit(signals) });
    const { scores } = await task.kept(stage, [jobKey(job), signals], compute);
    runs.set(`${name}: ${set}`, validated.rows.runOf(scores));
    shown.update(runs.size - 1);
  }
  shown.finish(`${sets.size} trainings anew`);
  const { arms } = await measureMethods(task, config, runs, 'learned');
  return [...sets].map(([set, signals], i) => {
    const { metrics, comparisons } = arms[i + 1] as (typeof arms)[number];
    return { name: set, signals, metrics, comparisons: comparisons as Importance['comparisons'] };
  });
}

/** A mix of fewer signals. */
function without(options: LinearOptions, all: readonly string[], left: readonly string[]): LinearOptions {
  const others = (signals: readonly string[]) => signals.filter((signal) => !left.includes(signal));
  return { ...options, signals: others(all), nonNegative: others(options.nonNegative) };
}

/** What each family of signals is worth: the learned method without it against the learned method. A family that is the whole model is not asked about. */
export async function importanceOf(job: ModelJob, validated: Validated): Promise<Importance[]> {
  const { task, config, options } = job;
  if (!config.importance || options.name !== 'linear') return [];
  const all = modelSignals(options, task.table.signals);
  const families = new Map([...signalFamilies(all)].filter(([, signals]) => signals.length < all.length));
  const found = await refits(job, validated, 'without signals', families, (left) =>
    refitScores(job, validated, task.features, without(options, all, left)),
  );
  return found.map(({ name: family, signals, comparisons }) => ({ family, signals, comparisons }));
}

/** The signals that a model has of each part of the bank, and of all parts. */
function exchangedSets({ task, config, options }: ModelJob): ReadonlyMap<string, readonly string[]> {
  const own = modelSignals(options, task.table.signals);
  const parts = [...signalParts(config.signals)]
    .map(([part, signals]) => [part, signals.filter((signal) => own.includes(signal))] as const)
    .filter(([, signals]) => signals.length > 0);
  const all = own.filter((signal) => parts.some(([, signals]) => signals.includes(signal)));
  return new Map(parts.length < 2 ? parts : [...parts, [ALL_PARTS, all]]);
}

/** What is left of the learned method where the candidates of each query exchange a part of its signals. */
export async function controlsOf(job: ModelJob, validated: Validated): Promise<NullControl[]> {
  const { task, config, options } = job;
  if (!config.controls || options.name !== 'linear') return [];
  const found = await refits(job, validated, 'exchanged signals', exchangedSets(job), (signals) => {
    const exchanged = changedFeatures(task.features, (rows) => exchangeSignals(rows, signals, config.seed));
    return refitScores(job, validated, exchanged, options);
  });
  return found.map(({ name: part, ...rest }) => ({ part, ...rest }));
}
