import { join } from 'node:path';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { loadDataset } from '../../data/registry.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { assertFeatureTable, type FeatureSource, type FeatureTable } from '../../rank/learning/feature-table.ts';
import { signalTable } from '../../rank/signals/bank/signal-bank.ts';
import { type CandidatePool, KEEPS_NOTHING, type Stage, type StageResult } from '../../rank/signals/stage.ts';
import type { Workspace } from '../../rank/signals/workspace.ts';
import { learningVersion, stageVersion } from '../run/environment.ts';
import { assertArmAttributes, assertArmData } from '../run/needed-data.ts';
import { StageCache } from '../run/stage-cache.ts';
import { areVectorsUnread, openWorkspace, selectEvaluatedQueries } from '../run/workspaces.ts';
import {
  buildFeatureTable,
  computeTaskSignals,
  FoldSignals,
  findCandidatePool,
  type JudgedRows,
} from './fold-signals.ts';
import type { TrainingConfig } from './training-config.ts';

export interface TaskContext {
  /**
   * Where prepared data, embeddings and the results of stages are kept between trainings; null, the default, keeps them
   * in memory.
   */
  readonly cacheFolder?: string | null;
  readonly progress?: StartProgress;
  /** By default the dataset that the config names. */
  readonly dataset?: Dataset;
  /** The dataset whose dev conversations encoders are fitted on, if it is not the task's. */
  readonly fittedOn?: Dataset;
}

/** The dataset of a config. */
export function loadTaskDataset(
  { dataset }: Pick<TrainingConfig, 'dataset'>,
  { cacheFolder = null, progress = ignoreProgress }: TaskContext,
): Promise<Dataset> {
  return loadDataset(dataset, { cacheFolder: cacheFolder && join(cacheFolder, 'datasets'), progress });
}

/**
 * The queries that a config measures with their candidates and signals: what models are trained and measured on.
 * Encoders are fitted on all dev conversations in `table`, and on those of its own training rows in each fold of
 * `features`. Owns tensors.
 */
export class LearningTask {
  readonly dataset: Dataset;
  readonly queries: readonly Query[];
  readonly table: FeatureTable;
  readonly workspace: Workspace;
  readonly pool: CandidatePool;
  readonly #folds: FoldSignals;
  readonly #signals: Stage;
  /** A plugin's metric is no stage of its own. */
  readonly #plugins: readonly (readonly string[])[];

  private constructor(
    parts: Pick<LearningTask, 'dataset' | 'queries' | 'table' | 'workspace' | 'pool'>,
    folds: FoldSignals,
    signals: Stage,
    { plugins = [] }: TrainingConfig,
  ) {
    this.dataset = parts.dataset;
    this.queries = parts.queries;
    this.table = parts.table;
    this.workspace = parts.workspace;
    this.pool = parts.pool;
    this.#folds = folds;
    this.#signals = signals;
    this.#plugins = plugins.map(({ name, version, hash }) => [name, version, hash]);
  }

  /**
   * @throws ValidationError for a dataset without a query in the split, or without times or attributes that a model
   *   needs.
   */
  static async open(config: TrainingConfig, context: TaskContext): Promise<LearningTask> {
    const { cacheFolder = null, progress = ignoreProgress, fittedOn } = context;
    const dataset = context.dataset ?? (await loadTaskDataset(config, context));
    assertArmData(dataset, [config.arm]);
    assertArmAttributes(dataset, [config.arm]);
    const queries = selectEvaluatedQueries(dataset, config);
    const store = cacheFolder === null ? KEEPS_NOTHING : new StageCache(cacheFolder);
    const other = fittedOn === undefined ? {} : { fittedOn };
    const plan = { dataset, config, code: stageVersion };
    // A trajectory model reads vectors besides those of its signals.
    const omitsVectors = config.fit.model.name === 'linear' && areVectorsUnread(plan, queries, [config.arm]);
    const source = { ...plan, ...other, omitsVectors, cacheFolder, store, progress };
    const workspace = await openWorkspace(source, queries, (fittedOn ?? dataset).devConversations);
    try {
      const pool = await findCandidatePool(workspace, config);
      const table = buildFeatureTable(dataset, queries, pool, await computeTaskSignals(workspace, pool, config));
      assertFeatureTable(table);
      const stage = workspace.plan.stage(signalTable(config.signals), pool.stage);
      const folds = new FoldSignals({ source, config, queries, workspace, pool, table });
      return new LearningTask({ dataset, queries, table, workspace, pool }, folds, stage, config);
    } catch (error) {
      workspace.dispose();
      throw error;
    }
  }

  /** The rows of folds, with encoders that are fitted on no conversation that a fold holds out. */
  get features(): FeatureSource {
    return this.#folds;
  }

  /** The judged candidates of rows while clusters are held out. */
  judgeRowsFor(rows: Int32Array, heldOut: readonly string[]): Promise<JudgedRows> {
    return this.#folds.judgeRowsFor(rows, heldOut);
  }

  /** A cached result of a training on this task, so that an interrupted training continues after it. */
  async keepResult<T extends StageResult<T>>(name: string, options: unknown, compute: () => Promise<T>): Promise<T> {
    const stage = this.workspace.plan.derived(name, [learningVersion(), options, ...this.#plugins], [this.#signals]);
    return this.workspace.runStage(stage, compute);
  }

  dispose(): void {
    this.workspace.dispose();
  }
}

/** The model of a fit, on the rows of a task. */
export interface ModelJob {
  readonly task: LearningTask;
  readonly config: TrainingConfig;
  readonly progress?: StartProgress;
}

/** Everything besides the table that affects the work on a model. */
export function buildJobKey({ config: { fit, seed } }: ModelJob) {
  const { importance: _, controls: __, resamples: ___, users: ____, transfer: _____, ...fitted } = fit;
  return { fit: fitted, seed };
}
