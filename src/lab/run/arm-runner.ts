import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ValidationError } from '../../core/errors/errors.ts';
import type { BlobStore } from '../../core/files/blob-store.ts';
import { readBytes } from '../../core/files/files.ts';
import { measureCost } from '../../core/tensors/active-backend.ts';
import type { BackendName } from '../../core/tensors/backend.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { setDataFolder } from '../../data/prepared/prepared.ts';
import { loadDataset } from '../../data/registry.ts';
import type { SliceSource } from '../../kernel/slices/slice-options.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { EncoderUse } from '../../model/encoder.ts';
import {
  type ArmRanking,
  buildRun,
  listRankedComponents,
  listRankedPositions,
  rankArm,
} from '../../rank/retrieval/retriever.ts';
import { openSlices } from '../../rank/retrieval/signed-slices.ts';
import type { Watch } from '../../rank/retrieval/steps/step.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import { addCounts, KEEPS_NOTHING, NO_COUNT, type StageCounts } from '../../rank/signals/stage.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import { wrapContent } from '../composition/config-composition.ts';
import { readYaml } from '../composition/config-file.ts';
import { listArmsToRun } from '../config/arm-selection.ts';
import { type ArmOptions, type ExperimentConfig, resolveConfig } from '../config/config.ts';
import type { ReportShare, RunData } from '../launch/launcher.ts';
import { attribute, listRelevantPositions } from '../measure/attribution.ts';
import { computeMetricMean } from '../measure/measurement.ts';
import { installConfigPlugins } from '../plugins/config-plugins.ts';
import {
  type ArmRecord,
  assertStepsApplied,
  type RecordedSlices,
  recordPath,
  writeArmRecord,
  writeFailure,
} from './arm-record.ts';
import { recordVersion, restoreDataFolder, runHash, stageVersion } from './environment.ts';
import { assertArmAttributes, assertArmData, assertMetricData } from './needed-data.ts';
import { listDifferingFacts, readState } from './partial-folder.ts';
import { countFittingRanks, inspectRanks } from './rankings.ts';
import { BegunSlices, collectSlices, readSliceKeys } from './run-slices.ts';
import { StageCache } from './stage-cache.ts';
import { ArmTuning, parseMetricCutoff, tuningStage } from './tuning.ts';
import {
  type ArmEncoding,
  areVectorsUnread,
  ByEncoding,
  chooseArmEncoding,
  type ExperimentSource,
  limitReach,
  openWorkspace,
  SHARED_ENCODING,
  selectEvaluatedQueries,
  splitTuningQueries,
  type WorkspaceSource,
} from './workspaces.ts';

/** Where the arms of an experiment get their data from, and where they keep what they compute. */
export interface RunnerInputs extends Pick<WorkspaceSource, 'givenVectors' | 'blobs'> {
  /** Where prepared data, embeddings and the results of stages are kept between runs; null keeps them in memory. */
  readonly cacheFolder: string | null;
  /** By default the dataset that the config names. */
  readonly dataset?: Dataset;
  /** The queries that the arms are asked; by default those that the config chooses of the dataset. */
  readonly queries?: readonly Query[];
  readonly progress?: StartProgress;
  /** Where slices come from; without it there are none. */
  readonly slices?: SliceSource;
  /** Gets what each encoder has used, also if it failed. */
  readonly noteUse?: (use: EncoderUse) => void;
}

/** The rankings of an arm and the parts of their scores. */
export type RankedArm = Omit<
  ArmRecord,
  'slices' | 'conservation' | 'losses' | 'stages' | 'seconds' | 'armsAtOnce' | 'latency'
>;

/** The dataset of an experiment: the given one, or that of the config. */
export async function openDataset(
  config: ExperimentConfig,
  { cacheFolder, dataset, progress = ignoreProgress }: Pick<RunnerInputs, 'cacheFolder' | 'dataset' | 'progress'>,
): Promise<Dataset> {
  const folder = cacheFolder === null ? null : join(cacheFolder, 'datasets');
  return dataset ?? loadDataset(config.dataset, { cacheFolder: folder, progress });
}

/** Opens the data of an experiment, to run its arms in this process. */
export async function openArmRunner(config: ExperimentConfig, inputs: RunnerInputs): Promise<ArmRunner> {
  const { cacheFolder, dataset: _, queries, progress = ignoreProgress, noteUse = () => {}, ...more } = inputs;
  const dataset = await openDataset(config, inputs);
  const local = cacheFolder === null ? KEEPS_NOTHING : new StageCache(cacheFolder);
  const { blobs } = inputs;
  const store =
    blobs && local instanceof StageCache ? new (await import('./shared-stages.ts')).SharedStages(local, blobs) : local;
  const source = { config, dataset, cacheFolder, store, code: stageVersion, progress, noteUse };
  return new ArmRunner({ ...source, ...more }, queries);
}

/**
 * Runs the arms of an experiment one by one. The ranking of an arm depends on the config, the data and the backend alone, not on earlier runs or on the
 * process: hyper-parameters are tuned along the chain of arms that it extends, on the held-out part of dev, and its queries are ranked with an encoder fitted
 * on all of dev. What arms share is made once. Owns tensors.
 */
export class ArmRunner {
  readonly dataset: Dataset;
  /** The queries that the table is about. */
  readonly queries: readonly Query[];
  readonly source: ExperimentSource;
  readonly tuning: ArmTuning;
  /** The cost of what other processes did for several arms, each with the name of an arm. */
  readonly shared: { readonly name: string; readonly stages: StageCounts }[] = [];
  readonly tuningWorkspaces: ByEncoding<Promise<Workspace>>;
  readonly #workspaces: ByEncoding<Promise<Workspace>>;
  readonly #withoutVectors = new Map<string, Promise<Workspace>>();

  /** @throws ValidationError when the dataset has no query to evaluate, or lacks times, threads or attributes that an arm needs. */
  constructor(source: ExperimentSource, queries?: readonly Query[]) {
    const { config, dataset } = source;
    assertArmData(dataset, listArmsToRun(config));
    assertMetricData(dataset, config.evaluation.metrics);
    assertArmAttributes(dataset, listArmsToRun(config));
    this.source = source;
    this.dataset = dataset;
    this.queries = queries ?? selectEvaluatedQueries(dataset, config);
    this.#workspaces = new ByEncoding(config, (arm) => this.#open(this.queries, dataset.devConversations, arm));
    this.tuningWorkspaces = new ByEncoding(config, (arm) => {
      const { fit, tuning } = splitTuningQueries(dataset, config);
      return this.#open(tuning, fit, arm);
    });
    this.tuning = new ArmTuning(config.arms, (arm) => this.measureTuningMetric(arm));
  }

  /** A runner of another config on the same data; as its owner, the caller disposes it. */
  withConfig(config: ExperimentConfig): ArmRunner {
    return new ArmRunner({ ...this.source, config });
  }

  /**
   * The workspace of the evaluated queries, with the encoder and the seed of an arm; without vectors if no arm with these
   * that is run or tuned compares any.
   */
  openArmWorkspace(arm: ArmEncoding = SHARED_ENCODING): Promise<Workspace> {
    return this.#workspaces.get(arm);
  }

  /** A workspace for stages that read no vectors: nothing is embedded for it. */
  openWithoutVectors(workspace: 'tuning' | 'table', arm: ArmEncoding): Promise<Workspace> {
    return getOrCompute(this.#withoutVectors, `${workspace} ${this.#workspaces.readKey(arm)}`, () => {
      const source = { ...this.source, config: chooseArmEncoding(this.source.config, arm), omitsVectors: true };
      if (workspace === 'table') return openWorkspace(source, this.queries, this.dataset.devConversations);
      const { fit, tuning } = splitTuningQueries(this.dataset, this.source.config);
      return openWorkspace(source, tuning, fit);
    });
  }

  async #open(queries: readonly Query[], fit: ReadonlySet<string>, arm: ArmEncoding): Promise<Workspace> {
    const { config } = this.source;
    const key = this.#workspaces.readKey(arm);
    const measured = listArmsToRun(config).flatMap((other) => [other, ...this.tuning.listTunedChain(other.name)]);
    const arms = measured.filter((other) => this.#workspaces.readKey(other) === key);
    const more = {
      ...limitReach(this.dataset, config, queries),
      config: chooseArmEncoding(config, arm),
      omitsVectors:
        config.evaluation.conservation === undefined && arms.length > 0 && areVectorsUnread(this.source, queries, arms),
    };
    return openWorkspace({ ...this.source, ...more }, queries, fit);
  }

  /**
   * Embeds all that some arms need, and asks for their slices, so that other processes find them on disk.
   *
   * @throws AdmissibilityError for a kernel that fails, or a slice that is not valid: then no arm is run.
   * @throws ValidationError, NotFiniteError for data or vectors that no arm could be run on.
   */
  async prepare(arms: readonly ArmOptions[]): Promise<void> {
    for (const arm of arms) {
      if (this.tuning.countPointsLeft(arm.name) > 0) await this.tuningWorkspaces.get(arm);
      await this.openArmWorkspace(arm);
      await this.#collectArmSlices(arm);
    }
  }

  /** The slices that an arm is ranked and tuned with. */
  async #collectArmSlices(arm: ArmOptions): Promise<RecordedSlices | null> {
    if (readArm(arm).outline.view.slice === null) return null;
    const own = { workspace: await this.openArmWorkspace(arm), arm };
    const tuned = this.tuning.listTunedChain(arm.name).map(async (above) => ({
      ...{ workspace: await this.tuningWorkspaces.get(above), arm: above },
    }));
    return collectSlices([own, ...(await Promise.all(tuned))]);
  }

  /** The mean of the tuning metric for an arm with its hyper-parameters set. */
  async measureTuningMetric(arm: ArmOptions): Promise<number> {
    const { metric } = this.source.config.tuning;
    const depth = parseMetricCutoff(metric, this.source.config.evaluation.depth);
    const workspace = await this.tuningWorkspaces.get(arm);
    return workspace.runStage<number>(tuningStage(workspace.plan, arm, this.source.config), async () => {
      const ranked = listRankedPositions(await rankArm(workspace, arm, depth));
      const run = buildRun(workspace.corpus, workspace.queries, ranked);
      return computeMetricMean(metric, run, this.dataset, workspace.queries);
    });
  }

  #listWorkspaces(): Promise<Workspace>[] {
    return [...this.tuningWorkspaces.list(), ...this.#workspaces.list(), ...this.#withoutVectors.values()];
  }

  /** Counts of each stage over all workspaces, since they were last taken. */
  async takeStageCounts(): Promise<StageCounts> {
    return addCounts(...(await Promise.all(this.#listWorkspaces())).map((workspace) => workspace.takeStageCounts()));
  }

  /**
   * Tunes an arm and ranks its queries; nothing is measured. Not to be called for another arm before it is done.
   *
   * @param inspect the number of first ranks of each ranking whose scores are explained.
   * @param signal ends the arm before its next part.
   */
  async rank(
    name: string,
    inspect: number,
    report: ReportShare = () => {},
    signal?: AbortSignal | undefined,
  ): Promise<{ readonly ranked: RankedArm; readonly ranking: ArmRanking }> {
    const steps = this.tuning.countPointsLeft(name) + 1;
    let done = 0;
    const tuned = await this.tuning.tuneNamedArm(name, () => report(++done / steps));
    const workspace = await this.openArmWorkspace(tuned.options);
    const watchParts: Watch = async (_, work) => {
      signal?.throwIfAborted();
      return work();
    };
    const own = await rankArm(workspace, tuned.options, this.source.config.evaluation.depth, watchParts, true);
    signal?.throwIfAborted();
    const isPlacebo = tuned.options.control?.kind === 'placebo';
    const draw = async () => (await import('./placebo.ts')).drawPlacebo(workspace, this.dataset, tuned.options, own);
    const ranking = isPlacebo ? await draw() : own;
    const ranked = {
      ...{ name, ...tuned, ...listRankedPositions(ranking), ...listRankedComponents(ranking, inspect) },
      ...(isPlacebo ? {} : await inspectRanks(workspace, tuned.options, ranking, inspect)),
      ...(ranking.changes && { changes: ranking.changes }),
    };
    return { ranked, ranking };
  }

  /** An arm with values in the place of its grid. */
  async tune(name: string): Promise<ArmOptions> {
    return (await this.tuning.tuneNamedArm(name)).options;
  }

  /**
   * {@link rank}, and all that measuring and reporting need.
   *
   * @throws ValidationError for an arm with a step that changes no query, and no reason for it.
   * @param armsAtOnce how many arms are run at the same time, those of other processes included.
   */
  async run(
    name: string,
    report: ReportShare = () => {},
    armsAtOnce = 1,
    signal?: AbortSignal | undefined,
  ): Promise<ArmRecord> {
    const started = performance.now();
    await this.takeStageCounts(); // of what was done before
    const { inspect } = this.source.config.evaluation;
    const { result, own } = await measureCost(() => this.rank(name, inspect, report, signal));
    const { ranked, ranking } = result;
    if (ranked.changes) assertStepsApplied(ranked, this.queries.length);
    const slices = await this.#collectArmSlices(ranked.options);
    return {
      ...ranked,
      losses: await this.#encodeArmLosses(ranked.options, ranking),
      ...(slices && { slices }),
      ...(this.source.config.evaluation.conservation && (await this.#measureShown(ranked.options, ranking))),
      stages: { ...(await this.takeStageCounts()), steps: { ...NO_COUNT, ...own } },
      seconds: (performance.now() - started) / 1000,
      armsAtOnce,
      latency: await this.#measureArmLatency(ranked.options),
    };
  }

  /** A null control is nothing that anybody would wait for, and a repetition takes as long as its arm. */
  async #measureArmLatency(arm: ArmOptions): Promise<ArmRecord['latency']> {
    const { evaluation, seed } = this.source.config;
    if (evaluation.latency === null || arm.control !== null || arm.repeats !== null) return null;
    const { measureLatency } = await import('../measure/latency.ts');
    return measureLatency(await this.openArmWorkspace(arm), arm, evaluation.depth, evaluation.latency, seed);
  }

  /** A repetition shows what its arm shows, as other seeds have it: it is in no report. */
  async #measureShown(arm: ArmOptions, ranking: ArmRanking): Promise<Pick<ArmRecord, 'conservation'>> {
    const { k = 0 } = this.source.config.evaluation.conservation ?? {};
    if (arm.repeats !== null) return {};
    const { measureConservation } = await import('../measure/conservation.ts');
    return { conservation: await measureConservation(await this.openArmWorkspace(arm), arm, ranking, k) };
  }

  /** The fate of the relevant turns, as {@link attribute} numbers it. */
  async #encodeArmLosses(options: ArmOptions, arm: ArmRanking): Promise<Uint8Array> {
    const { qrels, relevantGrade } = this.dataset;
    const { attributionDepth, attributionTokens: tokens } = this.source.config.evaluation;
    const workspace = await this.openArmWorkspace(options);
    const { pool, scores, components } = arm.retrieved;
    const { sources, view } = readArm(options).outline;
    const world = workspace.under(options.control);
    const isPlacebo = options.control?.kind === 'placebo'; // whose turns no source found
    const found = isPlacebo ? [] : await Promise.all(sources.map((source) => world.get(source.found)));
    const relevant = listRelevantPositions(workspace.corpus, qrels, relevantGrade, workspace.batch.ids);
    const admitted = view.slice === null ? null : await openSlices(world, view.slice);
    const relevance = components.get('relevance') ?? components.get('scoring') ?? scores; // a placebo has neither
    const fitting = tokens === undefined ? null : countFittingRanks(workspace.corpus, listRankedPositions(arm), tokens);
    return attribute({ admitted, found, pool, relevance, scores, fitting }, relevant, attributionDepth);
  }

  async dispose(): Promise<void> {
    for (const opened of await Promise.allSettled(this.#listWorkspaces())) // the others failed, as their callers know
      if (opened.status === 'fulfilled') opened.value.dispose();
  }
}

/**
 * Runs an arm and leaves its record in the folder of a begun run, or what it failed of. Rejects only where that cannot
 * be written.
 *
 * @returns whether the arm failed.
 */
export async function runArmTask(
  folder: string,
  runner: ArmRunner,
  arm: string,
  report?: ReportShare,
): Promise<boolean> {
  const { armsAtOnce } = readState(folder);
  let record: Awaited<ReturnType<ArmRunner['run']>>;
  try {
    record = await runner.run(arm, report, armsAtOnce);
  } catch (error) {
    writeFailure(folder, arm, error);
    return true;
  }
  writeArmRecord(recordPath(folder, arm), record);
  return false;
}

/** The dataset in the folder of a run on a machine that does not have the files of the data. */
export const OFFERED_DATA = 'dataset.jsonl.gz';

async function readOffered(folder: string): Promise<Pick<RunnerInputs, 'dataset'>> {
  const path = join(folder, OFFERED_DATA);
  if (!existsSync(path)) return {};
  const { decodeDataset } = await import('../../data/prepared/dataset-bytes.ts');
  return { dataset: decodeDataset(readBytes(path)) };
}

/** Opens the data of a run that another process begins; its arms are run after {@link assertBegun}. */
export function openRunData({ config, dataFolder }: RunData, cacheFolder: string): Promise<ArmRunner> {
  const resolved = config as ExperimentConfig;
  setDataFolder(resolved.dataset, dataFolder);
  return openArmRunner(resolved, { cacheFolder });
}

/** @throws ValidationError where code, data or backend are not those that the run in a folder was begun with. */
export function assertBegun(folder: string, { source, dataset }: ArmRunner, backend: BackendName): void {
  const dataHash = dataset.hash;
  const hash = runHash(source.config, dataHash, backend);
  const begun = readState(folder);
  const differing = listDifferingFacts(begun, { ...begun, hash, recordVersion: recordVersion(), dataHash, backend });
  if (differing.length > 0)
    throw new ValidationError(
      `run was begun with another ${differing.join(', ')}: ${folder}; start it again without --resume`,
      { folder, differing },
    );
}

/**
 * Opens a run that another process has begun, to run some of its arms.
 *
 * @param folder the run's folder, with its frozen config.
 * @param backend the active one.
 * @param blobs what other machines have made for the cache.
 * @throws ValidationError where code, data or backend are not those that the run was begun with.
 */
export async function joinRun(
  folder: string,
  backend: BackendName,
  cacheFolder: string,
  blobs?: BlobStore,
): Promise<ArmRunner> {
  const path = join(folder, 'config.yaml');
  const raw = readYaml(path);
  await installConfigPlugins(wrapContent(raw, path));
  const config = resolveConfig(raw, path);
  restoreDataFolder(config.dataset, folder);
  const slices = new BegunSlices(readSliceKeys(folder));
  const runner = await openArmRunner(config, {
    cacheFolder,
    slices,
    ...(await readOffered(folder)),
    ...(blobs && { blobs }),
  });
  assertBegun(folder, runner, backend);
  return runner;
}
