import { createRandom } from '../../core/numbers/random.ts';
import { ignoreProgress, letEventsIn } from '../../core/terminal/progress.ts';
import type { Estimate } from '../../eval/intervals/mean-intervals.ts';
import type { Run } from '../../model/run.ts';
import { fitPoint } from '../../rank/learning/cross-validation.ts';
import {
  createChangedSource,
  type FeatureSource,
  type FeatureTable,
  findSignalPositions,
} from '../../rank/learning/feature-table.ts';
import type { ModelOptions } from '../../rank/learning/fit-options.ts';
import { listAheadSignals, listCoordinateSignals, listModelSignals, scoreTable } from '../../rank/learning/model.ts';
import { listHandTunedValues } from '../../rank/learning/parameters.ts';
import {
  listProducts,
  listSignalNames,
  SHARED_WORDS,
  SIGNAL_GROUPS,
  type SignalBankOptions,
  type SignalGroup,
} from '../../rank/signals/bank/options.ts';
import { SPREAD } from '../../rank/signals/bank/sessions.ts';
import type { Importance, NullControl } from '../measure/fit-result.ts';
import { BASELINE, buildSelectionPlan, type FoldOutcome, measureMethods, selectChosenPoint } from './fitted-methods.ts';
import type { HeldOutRows } from './held-out-contributions.ts';
import { buildJobKey, type ModelJob } from './learning-task.ts';
import type { TrainingConfig } from './training-config.ts';

/** Suffixes of signals that are made of a score of the candidate alone. */
const OWN = ['', '@share'];
const AROUND = SPREAD.filter((suffix) => !OWN.includes(suffix));

function isAround(signal: string): boolean {
  const factors = listProducts().find(({ name }) => name === signal)?.of ?? [signal];
  return factors.some(
    (factor) => Object.hasOwn(SHARED_WORDS, factor) || AROUND.some((suffix) => factor.endsWith(suffix)),
  );
}

/** Signals that a bank lacks without a group. */
function listSignalsOnlyBy(options: SignalBankOptions, group: SignalGroup): string[] {
  const others = new Set(listSignalNames({ ...options, groups: options.groups.filter((one) => one !== group) }));
  return listSignalNames(options).filter((name) => !others.has(name));
}

/**
 * The signals of a bank that look at more than a candidate's own words, by what they look at: `neighbours`, the words
 * of the turns beside it and of its session, one of the groups but `text`, or `plugins`, whose signals may look at
 * anything. A product looks at what both of its factors do. A part without signals is left out.
 */
export function groupSignalParts(options: SignalBankOptions): ReadonlyMap<string, readonly string[]> {
  const groups = SIGNAL_GROUPS.filter((group) => group !== 'text');
  const parts: [string, string[]][] = [
    ['neighbours', listSignalNames(options).filter(isAround)],
    ...groups.map((group): [string, string[]] => [group, listSignalsOnlyBy(options, group)]),
    ['plugins', Object.keys(options.plugins ?? {})],
  ];
  return new Map(parts.filter(([, signals]) => signals.length > 0));
}

/** Slots of a row that hold a candidate. */
function listCandidateSlots({ mask, width }: FeatureTable, row: number): number[] {
  const slots: number[] = [];
  for (let slot = 0; slot < width; slot++) if (mask[row * width + slot] === 1) slots.push(slot);
  return slots;
}

/**
 * A null control: the candidates of each query exchange some signals at random, all of them together. The joint
 * distribution of these signals over a query's candidates does not change; the values of one candidate become those of
 * another. A query's draw depends on its id alone, so that a row is the same in every fold.
 *
 * @throws ValidationError for a signal that the table lacks.
 */
export function exchangeSignals(table: FeatureTable, signals: readonly string[], seed: number): FeatureTable {
  const columns = findSignalPositions(table, signals);
  const values = table.values.slice();
  const stride = table.signals.length;
  for (let row = 0; row < table.queryIds.length; row++) {
    const slots = listCandidateSlots(table, row);
    const givers = createRandom(seed, `exchanged-signals ${table.queryIds[row]}`).shuffle([...slots]);
    for (const [i, slot] of slots.entries()) {
      const to = (row * table.width + slot) * stride;
      const from = (row * table.width + givers[i]!) * stride;
      for (const column of columns) values[to + column] = table.values[from + column]!;
    }
  }
  return { ...table, values };
}

/**
 * The base of a signal's name: without its spread over a session, and without the number that distinguishes it from
 * similar ones.
 */
function findRootSignal(signal: string): string {
  const suffix = SPREAD.find((ending) => ending !== '' && signal.endsWith(ending)) ?? '';
  return signal.slice(0, signal.length - suffix.length).replace(/(?<=[-.])\d+(?=h?(?:@|$))/, 'N');
}

/**
 * Signals that are left out together, since they carry nearly the same information: a score with all its spread
 * signals, signals that differ in a number alone (half-lives, windows, dimensions), any other by itself. A product goes
 * with both of its factors.
 */
export function groupSignalFamilies(signals: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const families = new Map<string, string[]>();
  const add = (family: string, signal: string) => {
    const members = families.get(family);
    if (members === undefined) families.set(family, [signal]);
    else if (!members.includes(signal)) members.push(signal);
  };
  for (const signal of signals) for (const factor of signal.split('*')) add(findRootSignal(factor), signal);
  return families;
}

/** The control of all signals that some other exchanges. */
const ALL_PARTS = 'all of these';

/**
 * The inputs of a trajectory model besides a candidate's own relevance. The order of a ring and the turns ahead are
 * exchanged together: the number of turns that a candidate attends to depends on its position in the ring.
 */
function listTrajectoryParts({
  dimensions,
}: Extract<ModelOptions, { name: 'trajectory' }>): [string, readonly string[]][] {
  const order = ['ring.distance', 'ahead.count', ...listAheadSignals()];
  return [
    ['neighbours', ['relevance@neighbour', 'relevance@session']],
    ['time', ['age.hours']],
    ['coordinates', [...listCoordinateSignals(dimensions), 'cold-start']],
    ['attention: likeness', ['cosine']],
    ['attention: order', order],
    ['attention', ['cosine', ...order]],
  ];
}

/**
 * The signals that a model reads of each part that null controls exchange, and of all parts.
 *
 * @param table names of the signals that there are
 */
export function listExchangedParts(
  { signals: bank, fit: { model: options } }: Pick<TrainingConfig, 'signals' | 'fit'>,
  table: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const own = listModelSignals(options, table);
  const named = options.name === 'trajectory' ? listTrajectoryParts(options) : [...groupSignalParts(bank)];
  const parts = named
    .map(([part, signals]) => [part, signals.filter((signal) => own.includes(signal))] as const)
    .filter(([, signals]) => signals.length > 0);
  const all = own.filter((signal) => parts.some(([, signals]) => signals.includes(signal)));
  return new Map(parts.length < 2 ? parts : [...parts, [ALL_PARTS, all]]);
}

/**
 * The inputs of a refit: the folds with their hyper-parameters, and the rankings of the learned method for comparison.
 */
export interface Validated {
  readonly rows: HeldOutRows;
  readonly outcomes: readonly FoldOutcome[];
  readonly learned: Run;
  /** Scores of the held out rows by the hand-tuned numbers. */
  readonly handTuned: Float32Array;
}

type LinearOptions = Extract<ModelOptions, { name: 'linear' }>;

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

async function computeRefitScores(
  { config }: ModelJob,
  { rows, outcomes }: Validated,
  source: FeatureSource,
  model: ModelOptions,
): Promise<RefitScores> {
  const scores: Float32Array[] = [];
  const handTuned: Float32Array[] = [];
  for (const [f, { training, heldOut, clusters }] of rows.folds.entries()) {
    const point = selectChosenPoint(config, outcomes[f] as FoldOutcome);
    const fit = await fitPoint(
      await source.gatherRowsFor(training, clusters),
      point,
      buildSelectionPlan(config, model),
    );
    const held = await source.gatherRowsFor(heldOut, clusters);
    scores.push(await scoreTable(fit.model, fit.values, held));
    handTuned.push(await scoreTable(fit.model, listHandTunedValues(fit.model), held));
    await letEventsIn();
  }
  return { scores: rows.joinFoldScores(scores), handTuned: rows.joinFoldScores(handTuned) };
}

/** The refit of each set of signals, from the cache if present. @param name the name of the progress stage */
async function scoreSignalSets(
  job: ModelJob,
  name: string,
  sets: ReadonlyMap<string, readonly string[]>,
  refit: (signals: readonly string[]) => Promise<RefitScores>,
): Promise<ReadonlyMap<string, RefitScores>> {
  const { task, progress = ignoreProgress } = job;
  const shown = progress(name, sets.size);
  const found = new Map<string, RefitScores>();
  for (const [set, signals] of sets) {
    const stage = name.replaceAll(' ', '-');
    found.set(set, await task.keepResult(stage, [buildJobKey(job), signals], () => refit(signals)));
    shown.update(found.size);
  }
  shown.finish(`${sets.size} refits`);
  return found;
}

/** Figures of rankings, each compared with one of them. */
async function measureBeside(
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
  const listOtherSignals = (signals: readonly string[]) => signals.filter((signal) => !left.includes(signal));
  return { ...options, signals: listOtherSignals(all), nonNegative: listOtherSignals(options.nonNegative) };
}

/**
 * The value of each family of signals: the learned method without it against the learned method. Omits a family that is
 * the whole model.
 */
export async function measureImportance(job: ModelJob, validated: Validated): Promise<Importance[]> {
  const { task, config } = job;
  const { importance, model: options } = config.fit;
  if (!importance || options.name !== 'linear') return [];
  const all = listModelSignals(options, task.table.signals);
  const families = new Map([...groupSignalFamilies(all)].filter(([, signals]) => signals.length < all.length));
  const scored = await scoreSignalSets(job, 'without signals', families, (left) =>
    computeRefitScores(job, validated, task.features, without(options, all, left)),
  );
  const { rows, learned } = validated;
  const rankScoredSet = (set: string) => rows.rankAllRows((scored.get(set) as RefitScores).scores);
  const found = await measureBeside(job, families, ['learned', learned], rankScoredSet);
  return found.map(({ name: family, signals, comparisons }) => ({ family, signals, comparisons }));
}

function isSame(a: Float32Array, b: Float32Array): boolean {
  return a.every((score, i) => score === b[i]);
}

/** The learned and the hand-tuned method when the candidates of each query exchange a part of its signals. */
export async function measureNullControls(job: ModelJob, validated: Validated): Promise<NullControl[]> {
  const { task, config } = job;
  const { controls, model: options } = config.fit;
  if (!controls) return [];
  const { rows, learned, handTuned } = validated;
  const parts = listExchangedParts(config, task.table.signals);
  const scored = await scoreSignalSets(job, 'exchanged signals', parts, (signals) => {
    const exchanged = createChangedSource(task.features, (own) => exchangeSignals(own, signals, config.seed));
    return computeRefitScores(job, validated, exchanged, options);
  });
  const getRefitScores = (part: string) => scored.get(part) as RefitScores;
  const found = await measureBeside(job, parts, ['learned', learned], (part) =>
    rows.rankAllRows(getRefitScores(part).scores),
  );
  const baselines = await measureBeside(job, parts, [BASELINE, rows.rankAllRows(handTuned)], (part) =>
    rows.rankAllRows(getRefitScores(part).handTuned),
  );
  return found.map(({ name: part, ...rest }, i) => {
    const { comparisons } = baselines[i] as Refit;
    return { part, ...rest, baseline: { isUnchanged: isSame(getRefitScores(part).handTuned, handTuned), comparisons } };
  });
}
