import * as tf from '@tensorflow/tfjs-core';
import type { PropagationOptions } from '../attention/options.ts';
import { type PropagatedVersions, versionedPropagation } from '../attention/versioned-propagation.ts';
import { assertAdmissible } from '../candidates/admissible.ts';
import type { Bm25Index } from '../candidates/bm25.ts';
import { idPlaces } from '../candidates/id-order.ts';
import { type Bm25IndexOptions, createBm25, type IndexOptions } from '../candidates/registry.ts';
import { UnavailableError, ValidationError } from '../core/errors.ts';
import { letEventsIn } from '../core/event-loop.ts';
import { hashOf } from '../core/hash.ts';
import { type StartProgress, silent } from '../core/progress.ts';
import { gatherRows } from '../core/rows.ts';
import type { EncoderOptions } from '../embedding/registry.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../model/candidates.ts';
import type { Corpus } from '../model/corpus.ts';
import type { Query } from '../model/dataset.ts';
import { prepareSignals } from '../signals/bank/signal-bank.ts';
import { type CandidatePool, poolOf } from '../signals/candidate-pool.ts';
import { askedConversations, nothingAsked, type Scope, Scopes } from '../signals/conversation-scope.ts';
import { queryPoints, turnTables } from '../signals/frame-inputs.ts';
import { scopedIndex } from '../signals/scoped-index.ts';
import { KEEPS_NOTHING, type Stage, type StageCounts, type StageResult } from '../signals/stage.ts';
import { StageRunner } from '../signals/stage-results.ts';
import { assertVectors, type Encoding, type WorkspaceInputs } from '../signals/workspace-inputs.ts';
import type { ControlOptions } from '../signals/worlds/control-options.ts';
import { onOrder } from '../signals/worlds/null-controls.ts';
import { permutedOrder } from '../signals/worlds/permuted-order.ts';
import type { FrameTables } from '../trajectory/frame-tables.ts';
import type { QueryPoints } from '../trajectory/query-frames.ts';
import type { RetrieverOptions } from './retriever-options.ts';
import { StageGraph, type WorkspaceIdentity } from './stage-graph.ts';
import { unwatched, type Watch } from './watch.ts';

export type { WorkspaceInputs };

/** Enough where keys are compared with those of the same workspace alone. */
const NOBODY: WorkspaceIdentity = { code: '', data: '', encoder: {} };

/**
 * What the arms of one experiment share: corpus and queries on the device, and every intermediate result by the key of its stage, so that arms which differ in
 * one step compute only that step. Owns tensors and indexes; throws after `dispose()`.
 */
export class Workspace {
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly dimension: number;
  readonly turnVectors: Float32Array;
  readonly batch: QueryBatch;
  /** The stages that can be asked for, by their options. */
  readonly graph: StageGraph;
  /** The workspace that holds what says nothing of queries: this one, unless it was made {@link withQueries}. */
  readonly shared: Workspace;
  /** What queries ask where they ask one conversation alone. */
  readonly scopes: Scopes;
  readonly #seed: number;
  readonly startProgress: StartProgress;
  readonly #encode: WorkspaceInputs['encode'];
  readonly #places: Int32Array;
  readonly #runner: StageRunner;
  readonly #results = new Map<string, Promise<unknown>>();
  readonly #owned: { dispose(): void }[] = [];
  #disposed = false;

  /**
   * @param shared over the same corpus, see {@link withQueries}.
   * @throws DimensionMismatchError, NotFiniteError, ValidationError for vectors that do not fit, naming the turn or query.
   */
  constructor(inputs: WorkspaceInputs, shared?: Workspace) {
    if (shared === undefined) assertVectors('turn', inputs.corpus.turns, inputs.turnVectors, inputs.dimension);
    assertVectors('query', inputs.queries, inputs.queryVectors, inputs.dimension);
    this.corpus = inputs.corpus;
    this.queries = inputs.queries;
    this.dimension = inputs.dimension;
    this.turnVectors = inputs.turnVectors;
    this.batch = {
      texts: inputs.queries.map(({ text }) => text),
      vectors: inputs.queryVectors,
      cutoffs: Int32Array.from(inputs.queries, ({ timestamp }) => inputs.corpus.cutoff(timestamp)),
      conversations: askedConversations(inputs.corpus, inputs.queries),
    };
    this.scopes = shared?.scopes ?? new Scopes(inputs.corpus);
    this.#seed = inputs.seed;
    this.startProgress = inputs.progress ?? silent;
    this.#encode = inputs.encode;
    this.shared = shared ?? this;
    this.#places = shared !== undefined ? shared.#places : idPlaces(inputs.corpus.turns.map(({ id }) => id));
    this.graph = new StageGraph({ ...inputs, identity: inputs.stages?.identity ?? NOBODY });
    this.#runner = new StageRunner(inputs.stages?.store ?? KEEPS_NOTHING);
  }

  /**
   * A workspace of some of these queries by themselves: what it makes of them is made anew and stays in memory, whatever says nothing of queries (the corpus on
   * the device, indexes, propagated rows, tables of coordinates) is this one's. To be disposed before this one.
   *
   * @param places in `queries`.
   */
  withQueries(places: readonly number[]): Workspace {
    const { corpus, dimension, turnVectors, batch } = this;
    const queryVectors = gatherRows(batch.vectors, dimension, places);
    const queries = places.map((place) => this.queries[place] as Query);
    const encode = async (options: EncoderOptions) => {
      const all = await this.encoding(options);
      return { ...all, queryVectors: gatherRows(all.queryVectors, all.dimension, places) };
    };
    return new Workspace(
      { corpus, queries, turnVectors, queryVectors, dimension, seed: this.#seed, encode },
      this.shared,
    );
  }

  /**
   * Turns and queries as an encoder has them, embedded at most once.
   *
   * @param options null for the workspace's own encoder.
   * @throws UnavailableError where the workspace knows no other.
   * @throws DimensionMismatchError, NotFiniteError, ValidationError for vectors that do not fit, naming the turn or query.
   */
  async encoding(options: EncoderOptions | null): Promise<Encoding> {
    const { dimension, turnVectors, batch } = this;
    if (options === null) return { dimension, turnVectors, queryVectors: batch.vectors };
    const encode = this.#encode;
    if (encode === undefined)
      throw new UnavailableError(`encoder ${options.encoder}`, 'the workspace was opened without a way to embed texts');
    return this.once(['encoding', options], async () => {
      const encoding = await encode(options);
      assertVectors('turn', this.corpus.turns, encoding.turnVectors, encoding.dimension);
      assertVectors('query', this.queries, encoding.queryVectors, encoding.dimension);
      return encoding;
    });
  }

  #assertAlive(asked: unknown): void {
    if (this.#disposed) throw new ValidationError(`workspace was disposed: ${JSON.stringify(asked)}`);
  }

  /**
   * The result of a stage: from memory, from the store, or computed. `compute` asks for the stage's inputs itself, so that they are not made where they are not
   * needed.
   *
   * @throws ValidationError after `dispose()`, also where that comes before the computation has begun.
   */
  async stage<T extends StageResult<T>>(stage: Stage, compute: () => Promise<T> | T): Promise<T> {
    this.#assertAlive(stage.name);
    return this.#runner.run(stage, () => {
      this.#assertAlive(stage.name);
      return compute();
    });
  }

  /** How often each stage was executed, found in memory and read from the store so far. */
  stageCounts(): StageCounts {
    return this.#runner.counts();
  }

  /**
   * What cannot be stored, such as tensors and indexes: made once for each key, and uncounted.
   *
   * @throws ValidationError after `dispose()`, also where that comes before the computation has begun.
   */
  async once<T>(key: unknown, compute: () => Promise<T> | T): Promise<T> {
    this.#assertAlive(key);
    const hash = hashOf(key);
    const known = this.#results.get(hash);
    if (known !== undefined) return known as Promise<T>;
    const result = letEventsIn().then(() => {
      this.#assertAlive(key);
      return compute();
    });
    this.#results.set(hash, result);
    return result;
  }

  /** Keeps a tensor (or a group of them) until `dispose()`. */
  own<T extends tf.Tensor | tf.NamedTensorMap>(tensors: T): T {
    if (this.#disposed) tf.dispose(tensors);
    this.#assertAlive('own');
    this.#owned.push({ dispose: () => tf.dispose(tensors) });
    return tensors;
  }

  /** [N, D] on the device. */
  corpusTensor(): Promise<tf.Tensor2D> {
    const { shared } = this;
    return shared.once('corpus tensor', () =>
      shared.own(tf.tensor2d(this.turnVectors, [this.corpus.size, this.dimension])),
    );
  }

  propagated(options: PropagationOptions, control: ControlOptions | null = null): Promise<PropagatedVersions> {
    if (this.shared !== this) return this.shared.propagated(options, control);
    const ordering = onOrder(control);
    const order = ordering === null ? {} : { order: permutedOrder(this.corpus, this.graph.seedOf(ordering)) };
    const settings = { progress: this.startProgress, ...order };
    return this.stage(this.graph.propagated(options, control), () =>
      versionedPropagation(this.corpus, this.turnVectors, this.batch.cutoffs, options, settings),
    );
  }

  /** Over the turns of a scope. */
  bm25({ index, k1, b, variant, dropStopWords, stem }: Bm25IndexOptions, scope: Scope): Promise<Bm25Index> {
    const scoring = { k1, b, variant, dropStopWords, stem };
    return this.shared.once(['bm25', scoring, scope.conversationId], () =>
      createBm25({ index, k: 1, ...scoring }, scope.corpus),
    );
  }

  async #index(
    options: IndexOptions,
    propagation: PropagationOptions | null,
    control: ControlOptions | null,
  ): Promise<CandidateIndex> {
    const rows = options.index === 'flat' && propagation !== null ? await this.propagated(propagation, control) : null;
    const { turnVectors, dimension } = this;
    return scopedIndex(options, this.scopes, { vectors: turnVectors, dimension, seed: this.#seed }, rows);
  }

  /** An index that is kept until `dispose()`, as one that is asked time and again. */
  #kept(
    options: IndexOptions,
    propagation: PropagationOptions | null,
    control: ControlOptions | null,
  ): Promise<CandidateIndex> {
    return this.once(['index', options, propagation, control], async () => {
      const index = await this.#index(options, propagation, control);
      this.#owned.push(index);
      return index;
    });
  }

  /**
   * Makes what an arm needs and says nothing of queries, of a workspace made {@link withQueries}. Indexes are to hold what its queries may see: hnsw takes turns
   * in when it is asked. The question is a vector without a direction.
   */
  async warm({ candidates, propagation, scoring, control }: RetrieverOptions): Promise<void> {
    if (scoring !== null) await prepareSignals(this, scoring.signals);
    const nothing = nothingAsked(this.scopes, this.batch);
    for (const options of candidates) {
      const index = await this.shared.#kept(options, options.index === 'flat' ? propagation : null, control);
      await index.search(nothing, 1);
    }
  }

  /** How many candidates a query can have: the turns that exist before the last one. */
  #mostFound(): number {
    return this.batch.cutoffs.reduce((most, cutoff) => Math.max(most, cutoff), 1);
  }

  /** What one source finds for every query, each strictly earlier than it. */
  candidates(
    options: IndexOptions,
    propagation: PropagationOptions | null,
    control: ControlOptions | null = null,
  ): Promise<Candidates> {
    const dense = options.index === 'flat' ? propagation : null;
    return this.stage(this.graph.candidates(options, dense, control), async () => {
      const isKept = this.shared !== this;
      const index = isKept
        ? await this.shared.#kept(options, dense, control)
        : await this.#index(options, dense, control);
      try {
        const found = await index.search(this.batch, Math.min(options.k, this.#mostFound()), this.startProgress);
        assertAdmissible(found, this.batch.cutoffs);
        return found;
      } finally {
        if (!isKept) index.dispose();
      }
    });
  }

  /** @param watch is told of the candidates of each source. */
  async pool(retriever: RetrieverOptions, watch: Watch = unwatched): Promise<CandidatePool> {
    const { candidates, propagation, sameChannel, control } = retriever;
    const stage = this.graph.pool(retriever);
    const rows = await this.stage(stage, async () => {
      const sources: Candidates[] = [];
      for (const options of candidates)
        sources.push(await watch(`candidates ${options.index}`, () => this.candidates(options, propagation, control)));
      const admits = (query: number, position: number) =>
        !sameChannel || this.corpus.turns[position]?.channel === this.queries[query]?.channel;
      return poolOf(sources, this.queries.length, this.#places, admits);
    });
    return { ...rows, stage };
  }

  /** What trajectory coordinates are computed from. */
  frames(): Promise<{ readonly tables: FrameTables; readonly points: QueryPoints }> {
    return this.once('frames', async () => {
      const tables = await this.shared.once('frame tables', () => turnTables(this.shared, this.startProgress));
      return { tables, points: await queryPoints(this, this.startProgress) };
    });
  }

  dispose(): void {
    this.#disposed = true;
    for (const owned of this.#owned) owned.dispose();
    this.#owned.length = 0;
    this.#results.clear();
    this.#runner.clear();
  }
}
