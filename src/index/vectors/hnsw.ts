import hnswlib from 'hnswlib-node';
import { IndexBuildError, ValidationError } from '../../core/errors/errors.ts';
import { multiplyRows, viewRow } from '../../core/tensors/rows.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { createEventBreaks } from '../../core/values/event-loop.ts';
import { createSerialRunner, getOrCompute } from '../../core/values/once.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../../model/candidates.ts';
import { findLowerBound } from '../../model/turns/corpus.ts';
import { rankIdsDescending } from '../../model/turns/tie-rule.ts';
import type { IndexContext } from '../candidates/index-definition.ts';
import {
  allocateCandidates,
  assertQueries,
  assertQueryVectors,
  isZero,
  listVisibleTurns,
  orderByCutoff,
} from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';
import { isListed } from '../candidates/visible-turns.ts';
import { assertDenseRows, buildUnchangingRows, listNonZeroRows, listZeroRowTurns, searchRemark } from './dense-rows.ts';
import type { HnswOptions } from './hnsw-options.ts';

/** The part of hnswlib-node that is used, so that a build of it from elsewhere can be measured. */
export type HnswLibrary = Pick<typeof hnswlib, 'HierarchicalNSW'>;
type Graph = InstanceType<HnswLibrary['HierarchicalNSW']>;

/**
 * Of n turns, v are visible, and ef are considered: to compare all costs v products, to walk the graph about as many as the neighbours fetched, ef n / v. So they
 * cost the same at some multiple of the root of ef n. `npm run bench -- filtered-search` measures it: docs/performance.md.
 */
export const SCANNED_PER_ROOT = 3;

/** Whether to compare a query with all of `count` visible turns is cheaper than to look for `considered` of them in a graph of `size` turns. */
export function isScanCheaper(
  count: number,
  size: number,
  considered: number,
  scannedPerRoot: number = SCANNED_PER_ROOT,
): boolean {
  return count < size && count ** 2 <= scannedPerRoot ** 2 * considered * size;
}

/**
 * Approximate search by cosine in a navigable small-world graph (hnswlib), by replay: queries are answered in the order of their cutoffs, and turns are added as the
 * replay passes them, so the graph holds exactly the turns that each query may see and no filter cuts its paths. Results come in the caller's order. Vectors are of
 * length 1 or zero; zero vectors are not added, and a zero query has no candidates.
 *
 * A query with a list of visible turns is answered by comparing it with all of them, if these are few ({@link SCANNED_PER_ROOT}). Otherwise it fetches more
 * neighbours: as many of them are visible as a query without a list considers. If fewer than k are, it is compared with all after all.
 *
 * The graph is kept between searches, and built again when a query needs an earlier state of it. Searches that overlap are answered one after another.
 *
 * Malkov, Yashunin 2018, "Efficient and robust approximate nearest neighbor search using hierarchical navigable small world graphs".
 */
export class HnswIndex implements CandidateIndex {
  readonly name = 'hnsw';
  /** Turns whose vector is zero, which no query finds. */
  readonly skipped: number;
  readonly #zeroTurns: Int32Array;
  readonly #vectors: Float32Array;
  readonly #dimension: number;
  readonly #options: HnswOptions;
  readonly #library: HnswLibrary;
  readonly #scannedPerRoot: number;
  readonly #ranks: Int32Array;
  /** Positions with a direction, ascending. */
  readonly #order: Int32Array;
  readonly #inTurn = createSerialRunner();
  #graph: Graph | null = null;
  /** How many of `#order` the graph holds. */
  #added = 0;
  #disposed = false;

  /**
   * @param ids [N] of the turns in time order.
   * @param vectors row-major [N, D]
   * @param scannedPerRoot see {@link SCANNED_PER_ROOT}.
   */
  constructor(
    ids: readonly string[],
    vectors: Float32Array,
    dimension: number,
    options: HnswOptions,
    library: HnswLibrary = hnswlib,
    scannedPerRoot: number = SCANNED_PER_ROOT,
  ) {
    const rows = buildUnchangingRows(vectors, dimension);
    if (rows.positions.length !== ids.length)
      throw new IndexBuildError(
        'hnsw',
        `vectors for ${rows.positions.length} turns, ids for ${ids.length}; pass one row per turn`,
      );
    assertDenseRows(rows, ids);
    this.#vectors = vectors;
    this.#dimension = dimension;
    this.#options = options;
    this.#library = library;
    this.#scannedPerRoot = scannedPerRoot;
    this.#ranks = rankIdsDescending(ids);
    this.#order = listNonZeroRows(rows);
    this.#zeroTurns = listZeroRowTurns(rows, this.#order);
    this.skipped = this.#zeroTurns.length;
  }

  search(queries: QueryBatch, k: number, progress: StartProgress = ignoreProgress): Promise<Candidates> {
    return this.#inTurn(() => this.#replay(queries, k, progress));
  }

  async #replay(queries: QueryBatch, k: number, progress: StartProgress): Promise<Candidates> {
    this.#assertInUse();
    assertQueries(queries, this.#ranks.length, k);
    assertQueryVectors(queries, this.#dimension);
    const { cutoffs } = queries;
    const candidates = allocateCandidates(cutoffs.length, k);
    const top = new TopSelection(k, this.#ranks);
    const stage = progress('hnsw', cutoffs.length);
    const pause = createEventBreaks();
    const listed = { cutoffs, visible: this.#selectDirections(queries) };
    for (const [done, query] of orderByCutoff(cutoffs).entries()) {
      const visible = listVisibleTurns(listed, query);
      const vector = viewRow(queries.vectors, this.#dimension, query);
      if (visible !== null && this.#isScanned(visible.length, cutoffs[query]!, k)) {
        if (!isZero(vector)) this.#offerListed(visible, vector, top);
      } else {
        const graph = await this.#growGraphTo(cutoffs[query]!, pause);
        if (this.#added > 0 && !isZero(vector)) this.#offerNeighbours(graph, vector, k, visible, top);
      }
      top.drainTo(candidates, query);
      stage.update(done + 1);
      await pause();
      this.#assertInUse();
    }
    stage.finish(searchRemark(cutoffs, this.#zeroTurns));
    return candidates;
  }

  /** The lists of a batch without the turns that have no direction. */
  #selectDirections({ visible }: QueryBatch): readonly (Int32Array | null)[] | undefined {
    if (visible === undefined || this.#zeroTurns.length === 0) return visible;
    const selected = new Map<Int32Array | null, Int32Array | null>([[null, null]]);
    const select = (list: Int32Array | null) =>
      list?.filter((position) => !isListed(this.#zeroTurns, position)) ?? null;
    return visible.map((list) => getOrCompute(selected, list, select));
  }

  #isScanned(count: number, cutoff: number, k: number): boolean {
    const considered = Math.max(k, this.#options.efSearch);
    return isScanCheaper(count, findLowerBound(this.#order, cutoff), considered, this.#scannedPerRoot);
  }

  #offerListed(visible: Int32Array, vector: Float32Array, top: TopSelection): void {
    for (const position of visible)
      top.offer(position, multiplyRows(this.#vectors, position, vector, 0, this.#dimension));
  }

  #offerNeighbours(graph: Graph, vector: Float32Array, k: number, visible: Int32Array | null, top: TopSelection): void {
    const count = visible?.length ?? this.#added;
    const isWhole = count === this.#added;
    const width = isWhole ? k : Math.ceil((Math.max(k, this.#options.efSearch) * this.#added) / count);
    const { neighbors, distances } = graph.searchKnn(Array.from(vector), Math.min(width, this.#added));
    const found = [...neighbors.keys()].filter((i) => isWhole || isListed(visible as Int32Array, neighbors[i]!));
    if (visible !== null && found.length < Math.min(k, count)) this.#offerListed(visible, vector, top);
    else for (const i of found) top.offer(neighbors[i]!, 1 - distances[i]!);
  }

  /** The graph of the turns before the cutoff. */
  async #growGraphTo(cutoff: number, pause: () => Promise<void>): Promise<Graph> {
    if (this.#graph === null || (this.#added > 0 && this.#order[this.#added - 1]! >= cutoff)) this.#startAnew();
    const graph = this.#graph as unknown as Graph;
    while (this.#added < this.#order.length && this.#order[this.#added]! < cutoff) {
      const position = this.#order[this.#added]!;
      const vector = this.#vectors.subarray(position * this.#dimension, (position + 1) * this.#dimension);
      graph.addPoint(Array.from(vector), position);
      this.#added++;
      await pause();
      this.#assertInUse();
    }
    return graph;
  }

  #startAnew(): void {
    const { m, efConstruction, efSearch, seed } = this.#options;
    this.#graph = new this.#library.HierarchicalNSW('ip', this.#dimension);
    this.#graph.initIndex({ maxElements: Math.max(1, this.#order.length), m, efConstruction, randomSeed: seed });
    this.#graph.setEf(efSearch);
    this.#added = 0;
  }

  #assertInUse(): void {
    if (this.#disposed) throw new ValidationError('index was disposed: hnsw; build a new index');
  }

  dispose(): void {
    this.#graph = null;
    this.#disposed = true;
  }
}

export function createHnsw(
  options: Omit<HnswOptions, 'seed'>,
  { corpus, vectors, dimension, seed }: IndexContext,
): HnswIndex {
  const ids = corpus.turns.map(({ id }) => id);
  return new HnswIndex(ids, vectors, dimension, { ...options, seed });
}
