import * as tf from '@tensorflow/tfjs-core';
import type { PropagationOptions } from '../attention/options.ts';
import { type PropagatedVersions, versionedPropagation } from '../attention/versioned-propagation.ts';
import { DimensionMismatchError, ValidationError } from '../core/errors.ts';
import { letEventsIn } from '../core/event-loop.ts';
import { hashOf } from '../core/hash.ts';
import { type StartProgress, silent } from '../core/progress.ts';
import { assertAdmissible } from '../index/admissible.ts';
import type { Bm25Index } from '../index/bm25.ts';
import { FlatIndex } from '../index/flat.ts';
import { idPlaces } from '../index/id-order.ts';
import { assertUnitRows } from '../index/query-batch.ts';
import { type Bm25IndexOptions, createBm25, createIndex, type IndexOptions } from '../index/registry.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../model/candidates.ts';
import type { Corpus } from '../model/corpus.ts';
import type { Query } from '../model/dataset.ts';
import { countComponentsOf } from '../trajectory/complexity.ts';
import { type FrameTables, frameTables } from '../trajectory/frame-tables.ts';
import type { QueryPoints } from '../trajectory/query-frames.ts';
import { type CandidatePool, poolOf } from './candidate-pool.ts';
import type { RetrieverOptions } from './retriever-options.ts';

/** Texts whose components are counted between two looks at the event loop, about 0.1 s. */
const TEXTS_AT_ONCE = 100;

export interface WorkspaceInputs {
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  /** Row-major [N, D], unit rows. */
  readonly turnVectors: Float32Array;
  /** Row-major [Q, D], unit rows. */
  readonly queryVectors: Float32Array;
  readonly dimension: number;
  readonly seed: number;
  readonly progress?: StartProgress;
}

/** Checked here, since to a fusion NaN means that a source did not find the candidate. */
function assertVectors(
  what: string,
  owners: readonly { readonly id: string }[],
  vectors: Float32Array,
  dimension: number,
): void {
  if (vectors.length !== owners.length * dimension)
    throw new DimensionMismatchError(`numbers in the ${what} vectors`, owners.length * dimension, vectors.length);
  assertUnitRows(vectors, dimension, (row) => `${what} ${owners[row]?.id}`);
}

/**
 * What the arms of one experiment share: corpus and queries on the device, and every intermediate result by the hash of what it was made from, so that arms
 * which differ in one step compute only that step. Owns tensors and indexes; throws after `dispose()`.
 */
export class Workspace {
  readonly corpus: Corpus;
  readonly queries: readonly Query[];
  readonly dimension: number;
  readonly turnVectors: Float32Array;
  readonly batch: QueryBatch;
  readonly #seed: number;
  readonly #progress: StartProgress;
  readonly #places: Int32Array;
  readonly #results = new Map<string, Promise<unknown>>();
  readonly #owned: { dispose(): void }[] = [];
  #disposed = false;

  /** @throws DimensionMismatchError, NotFiniteError, ValidationError for vectors that do not fit, naming the turn or query. */
  constructor(inputs: WorkspaceInputs) {
    assertVectors('turn', inputs.corpus.turns, inputs.turnVectors, inputs.dimension);
    assertVectors('query', inputs.queries, inputs.queryVectors, inputs.dimension);
    this.corpus = inputs.corpus;
    this.queries = inputs.queries;
    this.dimension = inputs.dimension;
    this.turnVectors = inputs.turnVectors;
    this.batch = {
      texts: inputs.queries.map(({ text }) => text),
      vectors: inputs.queryVectors,
      cutoffs: Int32Array.from(inputs.queries, ({ timestamp }) => inputs.corpus.cutoff(timestamp)),
    };
    this.#seed = inputs.seed;
    this.#progress = inputs.progress ?? silent;
    this.#places = idPlaces(inputs.corpus.turns.map(({ id }) => id));
  }

  #assertAlive(asked: unknown): void {
    if (this.#disposed) throw new ValidationError(`workspace was disposed: ${JSON.stringify(asked)}`);
  }

  /**
   * The result of `compute`, made once for each key.
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
    return this.once('corpus tensor', () =>
      this.own(tf.tensor2d(this.turnVectors, [this.corpus.size, this.dimension])),
    );
  }

  propagated(options: PropagationOptions): Promise<PropagatedVersions> {
    return this.once(['propagated', options], () =>
      versionedPropagation(this.corpus, this.turnVectors, this.batch.cutoffs, options, { progress: this.#progress }),
    );
  }

  bm25({ index, k1, b, variant, dropStopWords, stem }: Bm25IndexOptions): Promise<Bm25Index> {
    return this.once(['bm25', k1, b, variant, dropStopWords, stem], () =>
      createBm25({ index, k: 1, k1, b, variant, dropStopWords, stem }, this.corpus),
    );
  }

  async #index(options: IndexOptions, propagation: PropagationOptions | null): Promise<CandidateIndex> {
    if (options.index === 'bm25') return this.bm25(options);
    if (options.index === 'flat' && propagation !== null) {
      const rows = await this.propagated(propagation);
      return new FlatIndex(
        this.corpus.turns.map(({ id }) => id),
        { ...rows, dimension: this.dimension },
      );
    }
    return createIndex(options, {
      corpus: this.corpus,
      vectors: this.turnVectors,
      dimension: this.dimension,
      seed: this.#seed,
    });
  }

  /** What one source finds for every query, each strictly earlier than it. */
  candidates(options: IndexOptions, propagation: PropagationOptions | null): Promise<Candidates> {
    const dense = options.index === 'flat' ? propagation : null;
    return this.once(['candidates', options, dense], async () => {
      const index = await this.#index(options, dense);
      try {
        const found = await index.search(this.batch, options.k, this.#progress);
        assertAdmissible(found, this.batch.cutoffs);
        return found;
      } finally {
        index.dispose();
      }
    });
  }

  pool({ candidates, propagation, sameChannel }: RetrieverOptions): Promise<CandidatePool> {
    return this.once(['pool', candidates, propagation, sameChannel], async () => {
      const sources: Candidates[] = [];
      for (const options of candidates) sources.push(await this.candidates(options, propagation));
      const admits = (query: number, position: number) =>
        !sameChannel || this.corpus.turns[position]?.channel === this.queries[query]?.channel;
      return poolOf(sources, this.queries.length, this.#places, admits);
    });
  }

  /** What trajectory coordinates are computed from. */
  frames(): Promise<{ readonly tables: FrameTables; readonly points: QueryPoints }> {
    return this.once('frames', async () => {
      const { turns } = this.corpus;
      const components = await this.#components([...turns.map(({ text }) => text), ...this.batch.texts]);
      const tables = frameTables(this.corpus, this.turnVectors, components.subarray(0, turns.length));
      const points: QueryPoints = {
        timestamps: Float64Array.from(this.queries, ({ timestamp }) => timestamp),
        components: components.subarray(turns.length),
        vectors: this.batch.vectors,
        anchors: Int32Array.from(this.queries, ({ anchorTurnId }) =>
          anchorTurnId === null ? -1 : this.corpus.position(anchorTurnId),
        ),
      };
      return { tables, points };
    });
  }

  async #components(texts: readonly string[]): Promise<Int32Array> {
    const stage = this.#progress('trajectory', texts.length);
    const components = new Int32Array(texts.length);
    for (let start = 0; start < texts.length; start += TEXTS_AT_ONCE) {
      components.set(countComponentsOf(texts.slice(start, start + TEXTS_AT_ONCE)), start);
      stage.update(start);
      await letEventsIn();
    }
    stage.finish(`${texts.length} texts`);
    return components;
  }

  dispose(): void {
    this.#disposed = true;
    for (const owned of this.#owned) owned.dispose();
    this.#owned.length = 0;
    this.#results.clear();
  }
}
