import { join } from 'node:path';
import { type StartProgress, silent } from '../../core/progress.ts';
import { spreadRows } from '../../core/rows.ts';
import { cachedEncoder, type EncoderSource } from '../../embedding/embedding-cache.ts';
import { type EncoderOptions, encoderSource } from '../../embedding/registry.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import { type QueryReach, queryReach, turnsWithin } from '../../retrieval/query-reach.ts';
import type { Encoding } from '../../signals/encoding.ts';
import { Plan, type WorkspaceIdentity } from '../../signals/plan.ts';
import type { StageStore } from '../../signals/stage.ts';
import { Workspace } from '../../signals/workspace.ts';
import type { ExperimentConfig } from '../config/config.ts';
import { embeddingVersion } from './code-version.ts';
import { limitedQueries, sampleConversations } from './conversation-sample.ts';
import { type DevSplit, splitDev } from './dev-split.ts';
import { assertSplitSize } from './split-size.ts';

/** The inputs of workspaces. */
export interface WorkspaceSource {
  readonly dataset: Dataset;
  /** The dataset whose conversations encoders are fitted on, if it is another dataset. */
  readonly fittedOn?: Dataset;
  readonly config: Pick<ExperimentConfig, 'embedding' | 'seed'>;
  /** Where embeddings are kept. */
  readonly cacheFolder: string;
  /** Where the results of stages are kept. */
  readonly store: StageStore;
  /** See `stageVersion`. */
  readonly code: WorkspaceIdentity['code'];
  readonly progress?: StartProgress;
  /** Where there is one, turns outside have no embeddings; see {@link limitedReach}. */
  readonly reach?: QueryReach;
}

/** The workspaces of an experiment's arms. */
export interface ExperimentSource extends WorkspaceSource {
  readonly config: ExperimentConfig;
}

/** The queries of the splits that the table is about: as many of each as the limit lets through, or those of a share of their conversations. */
export function evaluatedQueries(
  dataset: Dataset,
  { evaluation: { split, limitQueries, share }, seed }: ExperimentConfig,
): readonly Query[] {
  assertSplitSize(dataset, split);
  const of = (wanted: Query['split']) =>
    limitedQueries(
      dataset.queries.filter((query) => query.split === wanted),
      limitQueries,
      seed,
    );
  const queries = split === 'all' ? [...of('dev'), ...of('test')].sort((a, b) => a.timestamp - b.timestamp) : of(split);
  if (share === 1) return queries;
  const labels = queries.map(({ cluster }) => cluster);
  const drawn = sampleConversations(labels, share, seed);
  return queries.filter(({ cluster }) => drawn.has(cluster));
}

/** The dev conversations in two parts, with as many queries to tune on as the limit lets through. @throws ValidationError when dev has no query for it. */
export function limitedTuning(dataset: Dataset, { tuning: { holdout }, evaluation, seed }: ExperimentConfig): DevSplit {
  const { fit, tuning } = splitDev(dataset, holdout);
  return { fit, tuning: limitedQueries(tuning, evaluation.limitQueries, seed) };
}

/**
 * Where the number of queries is limited, only turns that they can look back to are embedded. All are embedded otherwise: rows of the exact index that are left out
 * change the last bits of its products.
 */
export function limitedReach(
  dataset: Dataset,
  { evaluation: { limitQueries } }: ExperimentConfig,
  queries: readonly Query[],
): Pick<WorkspaceSource, 'reach'> {
  return limitQueries === null ? {} : { reach: queryReach(dataset.corpus, queries) };
}

/** @param options the experiment's encoder where they are left out. */
function encoderOf(
  {
    dataset,
    fittedOn = dataset,
    config: { embedding, seed },
  }: Pick<WorkspaceSource, 'dataset' | 'fittedOn' | 'config'>,
  fit: ReadonlySet<string>,
  options: EncoderOptions = embedding,
): EncoderSource {
  const turns = fittedOn.corpus.turns.filter(({ conversationId }) => fit.has(conversationId));
  return encoderSource(options, { fitTexts: turns.map(({ text }) => text), seed });
}

/** The inputs that distinguish stages. */
export function identityOf(
  source: Pick<WorkspaceSource, 'dataset' | 'fittedOn' | 'config' | 'code' | 'reach'>,
  fit: ReadonlySet<string>,
): WorkspaceIdentity {
  const { identity } = encoderOf(source, fit);
  return {
    code: source.code,
    data: source.dataset.hash,
    encoder: { ...identity, code: embeddingVersion(), ...(source.reach === undefined ? {} : { reach: source.reach }) },
    encoderOf: (options) => ({ ...encoderOf(source, fit, options).identity, code: embeddingVersion() }),
  };
}

/** Embeds the turns within reach and the queries with an encoder fitted on the turns of `fit` alone; other turns have zero vectors. */
async function encodingOf(
  source: WorkspaceSource,
  queries: readonly Query[],
  fit: ReadonlySet<string>,
  options?: EncoderOptions,
): Promise<Encoding> {
  const { dataset, cacheFolder, progress = silent, reach } = source;
  const { turns } = dataset.corpus;
  const encoder = await cachedEncoder(encoderOf(source, fit, options), join(cacheFolder, 'embeddings'), progress);
  try {
    const positions = reach === undefined ? null : turnsWithin(dataset.corpus, reach);
    const embedded = positions === null ? turns : turns.filter((_, position) => positions.has(position));
    const texts = [...embedded, ...queries].map(({ text }) => text);
    const vectors = await encoder.encode(texts, progress);
    const { dimension } = encoder;
    const split = embedded.length * dimension;
    const rows = vectors.subarray(0, split);
    return {
      dimension,
      turnVectors: positions === null ? rows : spreadRows(rows, dimension, positions, turns.length),
      queryVectors: vectors.subarray(split),
    };
  } finally {
    encoder.dispose();
  }
}

/** The inputs that distinguish the stages of an experiment, without computing anything. */
export type PlanSource = Pick<ExperimentSource, 'dataset' | 'config' | 'code'>;

function graphOf(source: PlanSource, queries: readonly Query[], fit: ReadonlySet<string>): Plan {
  const { dataset, config } = source;
  const identity = identityOf({ ...source, ...limitedReach(dataset, config, queries) }, fit);
  return new Plan({ identity, corpus: dataset.corpus, queries, seed: config.seed });
}

/** The stages of the workspace that the table is made in. */
export function tableGraph(source: PlanSource): Plan {
  const { dataset, config } = source;
  return graphOf(source, evaluatedQueries(dataset, config), dataset.devConversations);
}

/** The stages of the workspace that arms are tuned in. @throws ValidationError when dev has no query for it. */
export function tuningGraph(source: PlanSource): Plan {
  const { fit, tuning } = limitedTuning(source.dataset, source.config);
  return graphOf(source, tuning, fit);
}

/**
 * Embeds the turns within reach and the queries with an encoder fitted on the turns of `fit` alone; vectors and stages come from the cache folder where it has them. The caller disposes
 * the workspace.
 */
export async function openWorkspace(
  source: WorkspaceSource,
  queries: readonly Query[],
  fit: ReadonlySet<string>,
): Promise<Workspace> {
  const { dataset, config, store, progress = silent } = source;
  return new Workspace({
    corpus: dataset.corpus,
    queries,
    ...(await encodingOf(source, queries, fit)),
    seed: config.seed,
    progress,
    encode: (options) => encodingOf(source, queries, fit, options),
    stages: { store, identity: identityOf(source, fit) },
  });
}
