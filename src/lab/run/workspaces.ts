import { join } from 'node:path';
import { DimensionMismatchError, UnavailableError } from '../../core/errors/errors.ts';
import type { BlobStore } from '../../core/files/blob-store.ts';
import { computeHash } from '../../core/hash/hash.ts';
import { spreadRows, viewRow } from '../../core/tensors/rows.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { createCachedEncoder, type EncoderSource } from '../../index/encoders/embedding-cache.ts';
import { createEncoderSource, type EncoderOptions } from '../../index/encoders/registry.ts';
import type { TokenStore } from '../../index/encoders/token-cache.ts';
import type { SliceSource } from '../../kernel/slices/slice-options.ts';
import type { Dataset, Query } from '../../model/dataset.ts';
import type { Encoder, EncoderUse, TextOwner } from '../../model/encoder.ts';
import { isSensitive } from '../../model/turns/memory-fields.ts';
import type { Turn } from '../../model/turns/turn.ts';
import { listArmStages, readArm } from '../../rank/retrieval/written-steps.ts';
import { Plan, type StageRoots, type WorkspaceIdentity } from '../../rank/signals/plan.ts';
import type { Encoding, TextVectors } from '../../rank/signals/signal.ts';
import type { StageStore } from '../../rank/signals/stage.ts';
import { computeQueryReach, listTurnsWithin, type QueryReach } from '../../rank/signals/subcorpus.ts';
import { Workspace } from '../../rank/signals/workspace.ts';
import type { ArmOptions, ExperimentConfig } from '../config/config.ts';
import { embeddingVersion } from './environment.ts';
import { assertSplitSize, type DevSplit, drawConversations, sampleConversationQueries, splitDev } from './rankings.ts';
import { listTunedOptions } from './tuning.ts';

const mark = (sensitive: boolean) => (sensitive ? { sensitive } : {});

/**
 * Whose texts an encoder gets: the turns, then the queries. A query is sensitive by its attribute, or if the turn that
 * it is has the attribute.
 *
 * @param turns those to embed; @param corpus all turns, which queries may be.
 */
export function listTextOwners(
  turns: readonly Turn[],
  queries: readonly Query[],
  corpus: { readonly turns: readonly Turn[] },
): TextOwner[] {
  const sensitive = new Set(corpus.turns.filter(isSensitive).map(({ id }) => id));
  return [
    ...turns.map(({ id }) => ({ kind: 'turn' as const, id, ...mark(sensitive.has(id)) })),
    ...queries.map((query) => ({
      kind: 'query' as const,
      id: query.id,
      ...mark(isSensitive(query) || (query.turnId !== undefined && sensitive.has(query.turnId))),
    })),
  ];
}

/** The inputs of workspaces. */
export interface WorkspaceSource {
  readonly dataset: Dataset;
  /** The dataset whose conversations encoders are fitted on, if it is another dataset. */
  readonly fittedOn?: Dataset;
  readonly config: Pick<ExperimentConfig, 'embedding' | 'seed'>;
  /** Where embeddings are kept; null keeps none. */
  readonly cacheFolder: string | null;
  /** Where the results of stages are kept. */
  readonly store: StageStore;
  /** Has what other machines have made for the cache. */
  readonly blobs?: BlobStore;
  /** See `stageVersion`. */
  readonly code: WorkspaceIdentity['code'];
  readonly progress?: StartProgress;
  /** Gets what an encoder has used, also if it failed. */
  readonly noteUse?: (use: EncoderUse) => void;
  /** Where slices come from; without it there are none. */
  readonly slices?: SliceSource;
  /** Where there is one, turns outside have no embeddings; see {@link limitReach}. */
  readonly reach?: QueryReach;
  /** No text is embedded: no arm reads vectors, see {@link areVectorsUnread}. */
  readonly omitsVectors?: boolean;
  /** By id, unit vectors of queries whose texts the encoder of the workspace does not embed. */
  readonly givenVectors?: ReadonlyMap<string, Float32Array>;
}

/** The workspaces of an experiment's arms. */
export interface ExperimentSource extends WorkspaceSource {
  readonly config: ExperimentConfig;
}

/** What an arm may have other than its experiment: the workspace that it needs. */
export type ArmEncoding = Pick<ArmOptions, 'embedding' | 'seed'>;

/** The workspace of arms that have nothing other than their experiment. */
export const SHARED_ENCODING: ArmEncoding = { embedding: null, seed: null };

/** The encoder and the seed of an arm's workspace. */
export function chooseArmEncoding(config: ExperimentConfig, arm: ArmEncoding): WorkspaceSource['config'] {
  return { embedding: arm.embedding ?? config.embedding, seed: arm.seed ?? config.seed };
}

/** Makes one thing for each encoder and seed that arms have, on first use. */
export class ByEncoding<T> {
  readonly #config: ExperimentConfig;
  readonly #make: (arm: ArmEncoding) => T;
  readonly #made = new Map<string, T>();

  constructor(config: ExperimentConfig, make: (arm: ArmEncoding) => T) {
    this.#config = config;
    this.#make = make;
  }

  /** The same for all arms of one encoder and seed. */
  readKey(arm: ArmEncoding): string {
    return computeHash(chooseArmEncoding(this.#config, arm));
  }

  get(arm: ArmEncoding): T {
    return getOrCompute(this.#made, this.readKey(arm), () => this.#make(arm));
  }

  list(): T[] {
    return [...this.#made.values()];
  }
}

/**
 * The queries of the splits that the table is about: as many of each as the limit lets through, or those of a share of
 * their conversations.
 */
export function selectEvaluatedQueries(
  dataset: Dataset,
  { evaluation: { split, limitQueries, share }, seed }: ExperimentConfig,
): readonly Query[] {
  assertSplitSize(dataset, split);
  const limitSplitQueries = (wanted: Query['split']) =>
    sampleConversationQueries(
      dataset.queries.filter((query) => query.split === wanted),
      limitQueries,
      seed,
    );
  const queries =
    split === 'all'
      ? [...limitSplitQueries('dev'), ...limitSplitQueries('test')].sort((a, b) => a.timestamp - b.timestamp)
      : limitSplitQueries(split);
  if (share === 1) return queries;
  const labels = queries.map(({ cluster }) => cluster);
  const drawn = drawConversations(labels, share, seed);
  return queries.filter(({ cluster }) => drawn.has(cluster));
}

/**
 * The dev conversations in two parts, with as many queries to tune on as the limit lets through.
 *
 * @throws ValidationError when dev has no query for it.
 */
export function splitTuningQueries(
  dataset: Dataset,
  { tuning: { holdout }, evaluation, seed }: ExperimentConfig,
): DevSplit {
  const { fit, tuning } = splitDev(dataset, holdout);
  return { fit, tuning: sampleConversationQueries(tuning, evaluation.limitQueries, seed) };
}

/**
 * Where the number of queries is limited, only turns that they can look back to are embedded. All are embedded
 * otherwise: rows of the exact index that are left out change the last bits of its products.
 */
export function limitReach(
  dataset: Dataset,
  { evaluation: { limitQueries } }: ExperimentConfig,
  queries: readonly Query[],
): Pick<WorkspaceSource, 'reach'> {
  return limitQueries === null ? {} : { reach: computeQueryReach(dataset.corpus, queries) };
}

/** @param options the experiment's encoder where they are left out. */
export function chooseEncoder(
  {
    dataset,
    fittedOn = dataset,
    config: { embedding, seed },
  }: Pick<WorkspaceSource, 'dataset' | 'fittedOn' | 'config'>,
  fit: ReadonlySet<string>,
  options: EncoderOptions = embedding,
): EncoderSource {
  const turns = fittedOn.corpus.turns.filter(({ conversationId }) => fit.has(conversationId));
  return createEncoderSource(options, {
    fitTexts: turns.map(({ text }) => text),
    seed,
    listOwners: () => listTextOwners(dataset.corpus.turns, dataset.queries, dataset.corpus),
  });
}

/** The inputs that distinguish stages. */
export function buildWorkspaceIdentity(
  source: Pick<WorkspaceSource, 'dataset' | 'fittedOn' | 'config' | 'code' | 'reach'>,
  fit: ReadonlySet<string>,
): WorkspaceIdentity {
  return {
    code: source.code,
    data: source.dataset.hash,
    get encoder() {
      const { identity } = chooseEncoder(source, fit);
      return { ...identity, code: embeddingVersion(), ...(source.reach === undefined ? {} : { reach: source.reach }) };
    },
    encoderOf: (options) => ({ ...chooseEncoder(source, fit, options).identity, code: embeddingVersion() }),
  };
}

/** The texts whose vectors machines share: all of the dataset, so that the name of a blob does not depend on the arm. */
export const listSharedTexts = ({ corpus, queries }: Dataset) => ({
  turns: corpus.turns.map(({ text }) => text),
  queries: queries.map(({ text }) => text),
});

/** Makes an encoder, with the cache if there is a folder for it. */
async function createEncoder(
  { cacheFolder, dataset, blobs, progress = ignoreProgress }: WorkspaceSource,
  chosen: EncoderSource,
): Promise<Encoder> {
  if (blobs && cacheFolder !== null) {
    const { fetchVectors } = await import('../../index/encoders/shared-vectors.ts');
    await fetchVectors(chosen, join(cacheFolder, 'embeddings'), listSharedTexts(dataset), blobs);
  }
  return cacheFolder === null
    ? chosen.create(progress)
    : createCachedEncoder(chosen, join(cacheFolder, 'embeddings'), progress);
}

/** An encoder that is fitted as those of the workspaces of an experiment. The caller disposes it. */
export function openEncoder(source: WorkspaceSource, options?: EncoderOptions): Promise<Encoder> {
  return createEncoder(source, chooseEncoder(source, source.dataset.devConversations, options));
}

/** Works with an encoder, and disposes it after the work. */
async function encodeWith<T>(
  source: WorkspaceSource,
  chosen: EncoderSource,
  work: (encoder: Encoder, progress: StartProgress) => Promise<T>,
): Promise<T> {
  const { progress = ignoreProgress, noteUse } = source;
  const encoder = await createEncoder(source, chosen);
  try {
    return await work(encoder, progress);
  } finally {
    const use = encoder.readUse?.() ?? null;
    if (use !== null && use.requests > 0) noteUse?.(use);
    encoder.dispose();
  }
}

/** @throws DimensionMismatchError for a given vector of another dimension than that of the encoder. */
function assertGivenDimensions(given: ReadonlyMap<string, Float32Array>, dimension: number): void {
  for (const [id, { length }] of given)
    if (length !== dimension)
      throw new DimensionMismatchError(`vector of ${id}`, dimension, length, 'use the model that embedded the turns');
}

/** The given vectors of queries, and the encoded ones of all others, in the order of the queries. */
function joinQueryRows(
  queries: readonly Query[],
  encoded: Float32Array,
  given: ReadonlyMap<string, Float32Array>,
  dimension: number,
): Float32Array {
  if (given.size === 0) return encoded;
  const rows = new Float32Array(queries.length * dimension);
  let read = 0;
  for (const [row, { id }] of queries.entries())
    rows.set(given.get(id) ?? viewRow(encoded, dimension, read++), row * dimension);
  return rows;
}

const NONE_GIVEN: ReadonlyMap<string, Float32Array> = new Map();

/**
 * Embeds the turns within reach and the queries with an encoder fitted on the turns of `fit` alone; other turns have
 * zero vectors.
 */
async function embedReachable(
  source: WorkspaceSource,
  queries: readonly Query[],
  fit: ReadonlySet<string>,
  options?: EncoderOptions,
): Promise<Encoding> {
  const { dataset, reach } = source;
  const { turns } = dataset.corpus;
  const given = (options === undefined && source.givenVectors) || NONE_GIVEN;
  return encodeWith(source, chooseEncoder(source, fit, options), async (encoder, progress) => {
    assertGivenDimensions(given, encoder.dimension);
    const asked = queries.filter(({ id }) => !given.has(id));
    const positions = reach === undefined ? null : listTurnsWithin(dataset.corpus, reach);
    const embedded = positions === null ? turns : turns.filter((_, position) => positions.has(position));
    const texts = [...embedded, ...asked].map(({ text }) => text);
    const vectors = await encoder.encode(texts, progress, {
      owners: listTextOwners(embedded, asked, dataset.corpus),
    });
    const { dimension } = encoder;
    const split = embedded.length * dimension;
    const rows = vectors.subarray(0, split);
    return {
      dimension,
      turnVectors: positions === null ? rows : spreadRows(rows, dimension, positions, turns.length),
      queryVectors: joinQueryRows(queries, vectors.subarray(split), given, dimension),
    };
  });
}

const NO_VECTORS = { dimension: 0, turnVectors: null, queryVectors: new Float32Array(0) };

/** @throws UnavailableError for an encoder that has vectors of turns and queries alone. */
async function embedTexts(
  source: WorkspaceSource,
  fit: ReadonlySet<string>,
  texts: readonly string[],
  owners: readonly TextOwner[],
): Promise<TextVectors> {
  const chosen = chooseEncoder(source, fit);
  if (chosen.dependsOn === 'id')
    throw new UnavailableError(
      'vectors of concepts',
      `encoder ${chosen.name} has those of turns and queries alone; set aliasCosine: null, or use another encoder`,
    );
  return encodeWith(source, chosen, async (encoder, progress) => ({
    dimension: encoder.dimension,
    vectors: await encoder.encode(texts, progress, { owners }),
  }));
}

/** The vectors of tokens by the encoder of an experiment, which is made when a text is missing. */
export async function openTokens(source: WorkspaceSource, fit: ReadonlySet<string>): Promise<TokenStore> {
  const { cacheFolder } = source;
  const { TokenStore } = await import('../../index/encoders/token-cache.ts');
  return TokenStore.open(chooseEncoder(source, fit), cacheFolder === null ? null : join(cacheFolder, 'tokens'));
}

/** The inputs that distinguish the stages of an experiment, without computing anything. */
export interface PlanSource extends Pick<ExperimentSource, 'dataset' | 'config' | 'code' | 'slices'> {
  /** Makes the plan of a workspace; by default one that does not know how its stages are computed. */
  readonly createPlan?: (roots: StageRoots) => Plan;
}

function createStageGraph(
  source: PlanSource,
  queries: readonly Query[],
  fit: ReadonlySet<string>,
  arm: ArmEncoding,
): Plan {
  const { dataset, code, slices, createPlan = (roots) => new Plan(roots) } = source;
  const config = chooseArmEncoding(source.config, arm);
  const reach = limitReach(dataset, source.config, queries);
  const identity = buildWorkspaceIdentity({ dataset, code, config, ...reach }, fit);
  return createPlan({ identity, corpus: dataset.corpus, queries, seed: config.seed, ...(slices && { slices }) });
}

/**
 * True if no arm compares vectors, whatever its tuning makes of it: then no key of a stage depends on the encoder. A
 * selection without a column compares vectors.
 *
 * @param arms some of the config's.
 */
export function areVectorsUnread(source: PlanSource, queries: readonly Query[], arms: readonly ArmOptions[]): boolean {
  const { dataset, config, code, slices } = source;
  let isRead = false;
  const identity = {
    ...{ code, data: dataset.hash, encoderOf: (options: EncoderOptions) => options },
    get encoder() {
      isRead = true;
      return {};
    },
    tokenEncoder: {},
  };
  const plan = new Plan({ identity, corpus: dataset.corpus, queries, seed: config.seed, ...(slices && { slices }) });
  const isUnreadBy = (options: ArmOptions) => {
    listArmStages(plan, options);
    return !isRead && !readArm(options).steps.some(({ comparesVectors }) => comparesVectors);
  };
  return arms.every((arm) => isUnreadBy(arm) && (listTunedOptions(arm.name, config.arms)?.every(isUnreadBy) ?? false));
}

/** The stages of the workspaces that the table is made in. */
export function createTableGraphs(source: PlanSource): ByEncoding<Plan> {
  const { dataset, config } = source;
  const queries = selectEvaluatedQueries(dataset, config);
  return new ByEncoding(config, (arm) => createStageGraph(source, queries, dataset.devConversations, arm));
}

/** The stages of the workspaces that arms are tuned in. @throws ValidationError when dev has no query for it. */
export function createTuningGraphs(source: PlanSource): ByEncoding<Plan> {
  const { fit, tuning } = splitTuningQueries(source.dataset, source.config);
  return new ByEncoding(source.config, (arm) => createStageGraph(source, tuning, fit, arm));
}

/**
 * Embeds the turns within reach and the queries with an encoder fitted on the turns of `fit` alone; vectors and stages
 * come from the cache folder where it has them. The caller disposes the workspace.
 */
export async function openWorkspace(
  source: WorkspaceSource,
  queries: readonly Query[],
  fit: ReadonlySet<string>,
): Promise<Workspace> {
  const { dataset, config, store, slices, progress = ignoreProgress } = source;
  return new Workspace({
    corpus: dataset.corpus,
    queries,
    ...(source.omitsVectors === true ? NO_VECTORS : await embedReachable(source, queries, fit)),
    seed: config.seed,
    progress,
    ...(slices && { slices }),
    encode: (options) => embedReachable(source, queries, fit, options),
    encodeTexts: (texts, owners) => embedTexts(source, fit, texts, owners),
    openTokens: () => openTokens(source, fit),
    stages: { store, identity: buildWorkspaceIdentity(source, fit) },
  });
}
