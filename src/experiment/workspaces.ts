import { join } from 'node:path';
import { type StartProgress, silent } from '../core/progress.ts';
import { cachedEncoder, type EncoderSource } from '../embedding/embedding-cache.ts';
import { type EncoderOptions, encoderSource } from '../embedding/registry.ts';
import type { Dataset, Query } from '../model/dataset.ts';
import { StageGraph, type WorkspaceIdentity } from '../retrieval/stage-graph.ts';
import type { StageStore } from '../retrieval/stage-store.ts';
import { Workspace } from '../retrieval/workspace.ts';
import type { Encoding } from '../retrieval/workspace-inputs.ts';
import type { ExperimentConfig } from './config.ts';
import { sampleConversations } from './conversation-sample.ts';
import { splitDev } from './dev-split.ts';
import { assertSplitSize } from './split-size.ts';

/** What workspaces are opened from. */
export interface WorkspaceSource {
  readonly dataset: Dataset;
  /** Whose conversations encoders are fitted on, where that is another dataset. */
  readonly fittedOn?: Dataset;
  readonly config: Pick<ExperimentConfig, 'embedding' | 'seed'>;
  /** Where embeddings are kept. */
  readonly cacheFolder: string;
  /** Where the results of stages are kept. */
  readonly store: StageStore;
  /** Version of the code, see `codeVersion`. */
  readonly code: string;
  readonly progress?: StartProgress;
}

/** What the arms of an experiment are run from. */
export interface ExperimentSource extends WorkspaceSource {
  readonly config: ExperimentConfig;
}

/** The earliest queries of the splits that the table is about, or those of a share of their conversations. */
export function evaluatedQueries(
  dataset: Dataset,
  { evaluation: { split, limitQueries, share }, seed }: ExperimentConfig,
): readonly Query[] {
  assertSplitSize(dataset, split);
  const of = (wanted: Query['split']) =>
    dataset.queries.filter((query) => query.split === wanted).slice(0, limitQueries ?? undefined);
  const queries = split === 'all' ? [...of('dev'), ...of('test')].sort((a, b) => a.timestamp - b.timestamp) : of(split);
  if (share === 1) return queries;
  const labels = queries.map(({ cluster }) => cluster);
  const drawn = sampleConversations(labels, share, seed);
  return queries.filter(({ cluster }) => drawn.has(cluster));
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

/** What the stages are told apart by. */
export function identityOf(
  source: Pick<WorkspaceSource, 'dataset' | 'fittedOn' | 'config' | 'code'>,
  fit: ReadonlySet<string>,
): WorkspaceIdentity {
  return {
    code: source.code,
    data: source.dataset.hash,
    encoder: encoderOf(source, fit).identity,
    encoderOf: (options) => encoderOf(source, fit, options).identity,
  };
}

/** Embeds turns and queries with an encoder fitted on the turns of `fit` alone. */
async function encodingOf(
  source: WorkspaceSource,
  queries: readonly Query[],
  fit: ReadonlySet<string>,
  options?: EncoderOptions,
): Promise<Encoding> {
  const { dataset, cacheFolder, progress = silent } = source;
  const encoder = await cachedEncoder(encoderOf(source, fit, options), join(cacheFolder, 'embeddings'), progress);
  try {
    const texts = [...dataset.corpus.turns, ...queries].map(({ text }) => text);
    const vectors = await encoder.encode(texts, progress);
    const split = dataset.corpus.size * encoder.dimension;
    return {
      dimension: encoder.dimension,
      turnVectors: vectors.subarray(0, split),
      queryVectors: vectors.subarray(split),
    };
  } finally {
    encoder.dispose();
  }
}

/** What the stages of an experiment are told apart by, without anything being computed. */
export type PlanSource = Pick<ExperimentSource, 'dataset' | 'config' | 'code'>;

function graphOf(source: PlanSource, queries: readonly Query[], fit: ReadonlySet<string>): StageGraph {
  const { dataset, config } = source;
  return new StageGraph({ identity: identityOf(source, fit), corpus: dataset.corpus, queries, seed: config.seed });
}

/** The stages of the workspace that the table is made in. */
export function tableGraph(source: PlanSource): StageGraph {
  const { dataset, config } = source;
  return graphOf(source, evaluatedQueries(dataset, config), dataset.devConversations);
}

/** The stages of the workspace that arms are tuned in. @throws ValidationError when dev has no query for it. */
export function tuningGraph(source: PlanSource): StageGraph {
  const { dataset, config } = source;
  const { fit, tuning } = splitDev(dataset, config.tuning.holdout);
  return graphOf(source, tuning.slice(0, config.evaluation.limitQueries ?? undefined), fit);
}

/**
 * Embeds turns and queries with an encoder fitted on the turns of `fit` alone; vectors and stages come from the cache folder where it has them. The caller disposes
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
