import { join } from 'node:path';
import { ValidationError } from '../../core/errors.ts';
import { type StartProgress, silent } from '../../core/progress.ts';
import { loadDataset } from '../../datasets/registry.ts';
import { assertFeatureTable, type FeatureTable } from '../../learning/feature-table.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { CandidatePool } from '../../retrieval/candidate-pool.ts';
import { retrieverOptions } from '../../retrieval/retriever-options.ts';
import { signalTable } from '../../retrieval/signal-bank/signal-bank.ts';
import type { Stage, StageResult } from '../../retrieval/stage-store.ts';
import type { Workspace } from '../../retrieval/workspace.ts';
import type { Dimensions } from '../../trajectory/coordinate-names.ts';
import { codeVersion, learningVersion } from '../code-version.ts';
import { StageCache } from '../stage-cache.ts';
import { openWorkspace } from '../workspaces.ts';
import { featureTableOf } from './signal-features.ts';
import type { TrainingConfig } from './training-config.ts';
import { withTrajectorySignals } from './trajectory-features.ts';

export interface TaskContext {
  readonly cacheFolder: string;
  readonly progress?: StartProgress;
}

/** A dataset's queries of one split with their candidates and signals: what models are trained and measured on. Owns tensors. */
export class LearningTask {
  readonly dataset: Dataset;
  readonly queries: readonly Query[];
  readonly table: FeatureTable;
  readonly workspace: Workspace;
  readonly pool: CandidatePool;
  readonly #signals: Stage;

  private constructor(
    parts: Pick<LearningTask, 'dataset' | 'queries' | 'table' | 'workspace' | 'pool'>,
    signals: Stage,
  ) {
    this.dataset = parts.dataset;
    this.queries = parts.queries;
    this.table = parts.table;
    this.workspace = parts.workspace;
    this.pool = parts.pool;
    this.#signals = signals;
  }

  /** @throws ValidationError for a dataset without a query in the split. */
  static async open(config: TrainingConfig, split: Query['split'], context: TaskContext): Promise<LearningTask> {
    const { cacheFolder, progress = silent } = context;
    const dataset = await loadDataset(config.dataset, { cacheFolder: join(cacheFolder, 'datasets'), progress });
    const queries = dataset.queries.filter((query) => query.split === split).slice(0, config.limitQueries ?? undefined);
    if (queries.length === 0) throw new ValidationError(`dataset ${dataset.name} has no query in split: ${split}`);
    const store = new StageCache(cacheFolder);
    const source = { dataset, config, cacheFolder, store, code: codeVersion(), progress };
    const workspace = await openWorkspace(source, queries, dataset.devConversations);
    try {
      const { candidates, sameChannel } = config;
      // The candidate stage alone: what relevance would make of it is not asked for.
      const retriever = retrieverOptions.parse({ candidates, sameChannel, relevance: { signals: ['recency'] } });
      const pool = await workspace.pool(retriever);
      const bank = await signalTable(workspace, pool, config.signals);
      const dimensions = config.models.flatMap((model) => (model.name === 'trajectory' ? [model.dimensions] : []));
      // Of several, the one with the most coordinates has those of the others.
      const signals =
        dimensions.length === 0
          ? bank
          : await withTrajectorySignals(workspace, pool, bank, Math.max(...dimensions) as Dimensions);
      const table = featureTableOf(dataset, queries, pool, signals);
      assertFeatureTable(table);
      const stage = workspace.graph.signalTable(pool.stage, config.signals);
      return new LearningTask({ dataset, queries, table, workspace, pool }, stage);
    } catch (error) {
      workspace.dispose();
      throw error;
    }
  }

  /** A result of a training on this task, kept in the cache, so that a training which was stopped goes on behind what it had done. */
  async kept<T extends StageResult<T>>(name: string, options: unknown, compute: () => Promise<T>): Promise<T> {
    const stage = this.workspace.graph.derived(name, [learningVersion(), options], [this.#signals]);
    return this.workspace.stage(stage, compute);
  }

  dispose(): void {
    this.workspace.dispose();
  }
}
