import { letEventsIn } from '../core/event-loop.ts';
import { silent } from '../core/progress.ts';
import type { Estimate } from '../evaluation/mean-intervals.ts';
import { fitPoint } from '../learning/cross-validation.ts';
import { exchangeSignals } from '../learning/exchanged-signals.ts';
import { changedFeatures, type FeatureSource } from '../learning/feature-source.ts';
import { handTunedValues } from '../learning/parameters.ts';
import { scoreTable } from '../learning/table-scorer.ts';
import type { Run } from '../model/run.ts';
import { exchangedParts } from './exchanged-parts.ts';
import { chosenPoint, type FoldOutcome, selectionPlan } from './fitted-methods.ts';
import type { HeldOutRows } from './held-out-rows.ts';
import { BASELINE, measureMethods } from './measured-methods.ts';
import { jobKey, type ModelJob } from './model-job.ts';
import { signalFamilies } from './signal-families.ts';
import { modelSignals } from './training-models.ts';
import type { Importance, NullControl } from './training-result.ts';

/** The inputs of a refit: the folds with their hyper-parameters, and the rankings of the learned method for comparison. */
export interface Validated {
  readonly rows: HeldOutRows;
  readonly outcomes: readonly FoldOutcome[];
  readonly learned: Run;
  /** Scores of the held out rows by the hand-tuned numbers. */
  readonly handTuned: Float32Array;
}

type LinearOptions = Extract<ModelJob['options'], { name: 'linear' }>;

/** A refit, compared with the learned method. */
interface Refit {
  readonly name: string;
  readonly signals: readonly string[];
  readonly metrics: Readonly<Record<string, Estimate>>;
  readonly comparisons: Importance['comparisons'];
}

/** Scores of all held out rows. */
type RefitScores = {
  /** By a model trained again on the other folds, with the hyper-parameters of each fold. */
  readonly scores: Float32Array;
  /** By the hand-tuned numbers. */
  readonly handTuned: Float32Array;
};

async function refitScores(
  { config }: ModelJob,
  { rows, outcomes }: Validated,
  source: FeatureSource,
  model: ModelJob['options'],
): Promise<RefitScores> {
  const scores: Float32Array[] = [];
  const handTuned: Float32Array[] = [];
  for (const [f, { training, heldOut, clusters }] of rows.folds.entries()) {
    const point = chosenPoint(config, outcomes[f] as FoldOutcome);
    const fit = await fitPoint(await source.rowsFor(training, clusters), point, selectionPlan(config, model));
    const held = await source.rowsFor(heldOut, clusters);
    scores.push(await scoreTable(fit.model, fit.values, held));
    handTuned.push(await scoreTable(fit.model, handTunedValues(fit.model), held));
    await letEventsIn();
  }
  return { scores: rows.joined(scores), handTuned: rows.joined(handTuned) };
}

/** The refit of each set of signals, from the cache if present. @param name the name of the progress stage */
async function scoredSets(
  job: ModelJob,
  name: string,
  sets: ReadonlyMap<string, readonly string[]>,
  refit: (signals: readonly string[]) => Promise<RefitScores>,
): Promise<ReadonlyMap<string, RefitScores>> {
  const { task, progress = silent } = job;
  const shown = progress(name, sets.size);
  const found = new Map<string, RefitScores>();
  for (const [set, signals] of sets) {
    const stage = name.replaceAll(' ', '-');
    found.set(set, await task.kept(stage, [jobKey(job), signals], () => refit(signals)));
    shown.update(found.size);
  }
  shown.finish(`${sets.size} refits`);
  return found;
}

/** Figures of rankings, each compared with one of them. */
async function measuredBeside(
  { task, config }: ModelJob,
  sets: ReadonlyMap<string, readonly string[]>,
  [name, baseline]: readonly [string, Run],
  runOf: (set: string) => Run,
): Promise<Refit[]> {
  const runs = new Map([[name, baseline]]);
  for (const set of sets.keys()) runs.set(`refit: ${set}`, runOf(set));
  const { arms } = await measureMethods(task, config, runs, name);
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

/** The value of each family of signals: the learned method without it against the learned method. Omits a family that is the whole model. */
export async function importanceOf(job: ModelJob, validated: Validated): Promise<Importance[]> {
  const { task, config, options } = job;
  if (!config.importance || options.name !== 'linear') return [];
  const all = modelSignals(options, task.table.signals);
  const families = new Map([...signalFamilies(all)].filter(([, signals]) => signals.length < all.length));
  const scored = await scoredSets(job, 'without signals', families, (left) =>
    refitScores(job, validated, task.features, without(options, all, left)),
  );
  const { rows, learned } = validated;
  const runOf = (set: string) => rows.runOf((scored.get(set) as RefitScores).scores);
  const found = await measuredBeside(job, families, ['learned', learned], runOf);
  return found.map(({ name: family, signals, comparisons }) => ({ family, signals, comparisons }));
}

function isSame(a: Float32Array, b: Float32Array): boolean {
  return a.every((score, i) => score === b[i]);
}

/** The learned and the hand-tuned method when the candidates of each query exchange a part of its signals. */
export async function controlsOf(job: ModelJob, validated: Validated): Promise<NullControl[]> {
  const { task, config, options } = job;
  if (!config.controls) return [];
  const { rows, learned, handTuned } = validated;
  const parts = exchangedParts(config, options, task.table.signals);
  const scored = await scoredSets(job, 'exchanged signals', parts, (signals) => {
    const exchanged = changedFeatures(task.features, (own) => exchangeSignals(own, signals, config.seed));
    return refitScores(job, validated, exchanged, options);
  });
  const scoresOf = (part: string) => scored.get(part) as RefitScores;
  const found = await measuredBeside(job, parts, ['learned', learned], (part) => rows.runOf(scoresOf(part).scores));
  const baselines = await measuredBeside(job, parts, [BASELINE, rows.runOf(handTuned)], (part) =>
    rows.runOf(scoresOf(part).handTuned),
  );
  return found.map(({ name: part, ...rest }, i) => {
    const { comparisons } = baselines[i] as Refit;
    return { part, ...rest, baseline: { isUnchanged: isSame(scoresOf(part).handTuned, handTuned), comparisons } };
  });
}
