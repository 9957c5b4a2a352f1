import { DimensionMismatchError, ValidationError } from '../../core/errors/errors.ts';
import { gatherRows, viewRow } from '../../core/tensors/rows.ts';
import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import { createSerialRunner } from '../../core/values/once.ts';
import type { Candidates, QueryBatch } from '../../model/candidates.ts';
import { createTieOrder, type TieOrder } from '../../model/turns/tie-rule.ts';
import type { VectorIndex } from '../../model/vector-index.ts';
import type { GrowingIndex, IndexContext } from '../candidates/index-definition.ts';
import {
  allocateCandidates,
  assertQueries,
  assertQueryVectors,
  assertUnitRows,
  describeSearch,
  isZero,
  orderByCutoff,
} from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';

/** Turns that an index takes at once. */
const BLOCK = 1000;

/** The corpus that is replayed. */
export interface ReplayedTurns {
  /** [N] in time order. */
  readonly ids: readonly string[];
  /** Row-major [N, D], of length 1 or zero. */
  readonly vectors: Float32Array;
  /** D. */
  readonly dimension: number;
}

/** The turns of an index. */
export function readReplayedTurns({
  corpus,
  vectors,
  dimension,
}: Pick<IndexContext, 'corpus' | 'vectors' | 'dimension'>): ReplayedTurns {
  return { ids: corpus.turns.map(({ id }) => id), vectors, dimension };
}

/**
 * Positions of turns whose vector is zero.
 *
 * @param start of the turns that are looked at.
 * @throws NotFiniteError, ValidationError for a vector that is neither of length 1 nor zero.
 */
function listZeroTurns({ ids, vectors, dimension }: ReplayedTurns, start: number): Int32Array {
  assertUnitRows(vectors.subarray(start * dimension), dimension, (row) => `turn ${ids[start + row]}`);
  const positions = Int32Array.from({ length: ids.length - start }, (_, i) => start + i);
  return positions.filter((position) => isZero(viewRow(vectors, dimension, position)));
}

/** B queries of a replay that see the same turns. */
export interface ReplayedQueries {
  /** [B] their places in the batch. */
  readonly members: readonly number[];
  /** Row-major [B, D], each of length 1. */
  readonly vectors: Float32Array;
  /** At least 1. */
  readonly cutoff: number;
  /** The list of turns that they may see, those behind the cutoff included; null: every turn. */
  readonly list: Int32Array | null;
}

/** The most queries that are answered at once, between which events are let in. */
const ANSWERED_TOGETHER = 32;

/** The queries that may find something, in the order of their cutoffs: runs of those that see the same turns. */
function* listRuns({ vectors, cutoffs, visible }: QueryBatch, dimension: number): Generator<ReplayedQueries> {
  const asked = orderByCutoff(cutoffs).filter(
    (query) => cutoffs[query]! > 0 && !isZero(viewRow(vectors, dimension, query)),
  );
  for (let start = 0, end = 0; start < asked.length; start = end) {
    const [cutoff, list] = [cutoffs[asked[start]!]!, visible?.[asked[start]!] ?? null];
    const isSame = (query: number) => cutoffs[query] === cutoff && (visible?.[query] ?? null) === list;
    while (end < Math.min(asked.length, start + ANSWERED_TOGETHER) && isSame(asked[end]!)) end++;
    const members = Array.from(asked.subarray(start, end));
    yield { members, vectors: gatherRows(vectors, dimension, members), cutoff, list };
  }
}

/**
 * An index that grows, over a corpus in time order: queries are answered in the order of their cutoffs, and turns are
 * added as the replay passes them, so that the index holds exactly the turns that each query may see. Results come in
 * the caller's order. A zero query has no candidates.
 *
 * The index is kept between searches, and emptied where a query needs an earlier state of it. Searches that overlap are
 * answered one after another.
 */
export abstract class Replay implements GrowingIndex {
  abstract readonly name: string;
  protected turns: ReplayedTurns;
  readonly #ids: string[];
  /** Positions of turns whose vector is zero, which no query finds, ascending. */
  protected zeroTurns: Int32Array;
  #compareTies: TieOrder;
  readonly #inTurn = createSerialRunner();
  readonly #pause = createEventBreaks();
  #added = 0;
  #disposed = false;

  /**
   * @throws DimensionMismatchError for vectors that do not fit the ids; NotFiniteError, ValidationError for one that is
   *   neither of length 1 nor zero.
   * @param compareTies of the ids.
   */
  constructor(turns: ReplayedTurns, compareTies: TieOrder = createTieOrder(turns.ids)) {
    const { ids, vectors, dimension } = turns;
    const size = ids.length * dimension;
    if (vectors.length !== size)
      throw new DimensionMismatchError(
        `vectors of ${ids.length} turns of dimension ${dimension}`,
        size,
        vectors.length,
        'pass one row per turn',
      );
    this.#ids = [...ids];
    this.turns = { ...turns, ids: this.#ids };
    this.zeroTurns = listZeroTurns(turns, 0);
    this.#compareTies = compareTies;
  }

  growWith({ corpus, vectors, dimension }: IndexContext): Promise<void> {
    return this.#inTurn(async () => {
      const size = this.#ids.length;
      for (const { id } of corpus.turns.slice(size)) this.#ids.push(id);
      this.turns = { ids: this.#ids, vectors, dimension };
      const zero = listZeroTurns(this.turns, size);
      if (zero.length > 0) this.zeroTurns = Int32Array.from([...this.zeroTurns, ...zero]);
      this.#compareTies = corpus.compareTies;
    });
  }

  /** Adds the turns from `start` to `end`, which follow those of the call before. */
  protected abstract add(start: number, end: number): Promise<void>;
  /** Removes every turn. */
  protected abstract clear(): Promise<void>;
  /** Frees what the index holds. */
  protected close(): Promise<void> {
    return this.clear();
  }
  /**
   * Offers to each query the best k turns that it may see, after {@link Replay.growTo}, or others that hold them.
   *
   * @param tops [B] or more
   */
  protected abstract offerBest(queries: ReplayedQueries, k: number, tops: readonly TopSelection[]): Promise<void>;

  search(queries: QueryBatch, k: number, progress: StartProgress = ignoreProgress): Promise<Candidates> {
    return this.#inTurn(() => this.#replay(queries, k, progress));
  }

  async #replay(queries: QueryBatch, k: number, progress: StartProgress): Promise<Candidates> {
    this.#assertInUse();
    const { ids, dimension } = this.turns;
    assertQueries(queries, ids.length, k);
    assertQueryVectors(queries, dimension);
    const { cutoffs } = queries;
    const candidates = allocateCandidates(cutoffs.length, k);
    const tops = Array.from({ length: ANSWERED_TOGETHER }, () => new TopSelection(k, this.#compareTies));
    const stage = progress(this.name, cutoffs.length);
    let done = 0;
    for (const run of listRuns(queries, dimension)) {
      await this.offerBest(run, k, tops);
      for (const [i, query] of run.members.entries()) tops[i]!.drainTo(candidates, query);
      done += run.members.length;
      stage.update(done);
      await this.pause();
    }
    stage.finish(describeSearch(cutoffs, this.zeroTurns));
    return candidates;
  }

  /** Brings the index to the turns before the cutoff. */
  protected async growTo(cutoff: number): Promise<void> {
    if (this.#added > cutoff) {
      await this.clear();
      this.#added = 0;
    }
    while (this.#added < cutoff) {
      const end = Math.min(cutoff, this.#added + BLOCK);
      await this.add(this.#added, end);
      this.#added = end;
    }
  }

  /** Lets events in. @throws ValidationError if the index was disposed meanwhile. */
  protected async pause(): Promise<void> {
    await this.#pause();
    this.#assertInUse();
  }

  #assertInUse(): void {
    if (this.#disposed) throw new ValidationError(`index was disposed: ${this.name}; build a new index`);
  }

  dispose(): void {
    this.#disposed = true;
    void this.#inTurn(() => this.close()).catch(() => {}); // nothing that anyone needs is lost
  }
}

/** A {@link Replay} in an index whose vectors come and go. */
export class VectorIndexReplay extends Replay {
  readonly name: string;
  readonly #open: () => Promise<VectorIndex>;
  readonly #positionOf = new Map<string, number>();
  /** The ids of a list of positions. Queries that share a list share its set. */
  readonly #idsOf = new WeakMap<Int32Array, ReadonlySet<string>>();
  #index: VectorIndex | null = null;

  /** @param open opens an empty index with distance `cosine`. */
  constructor(name: string, turns: ReplayedTurns, open: () => Promise<VectorIndex>) {
    super(turns);
    this.name = name;
    this.#open = open;
  }

  protected async add(start: number, end: number): Promise<void> {
    const { ids, vectors, dimension } = this.turns;
    this.#index ??= await this.#open();
    for (let position = start; position < end; position++) this.#positionOf.set(ids[position] as string, position);
    await this.#index.upsert(
      ids.slice(start, end).map((id, i) => ({ id, vector: viewRow(vectors, dimension, start + i) })),
    );
  }

  protected async clear(): Promise<void> {
    return this.#index?.clear === undefined ? this.close() : this.#index.clear();
  }

  protected override async close(): Promise<void> {
    const index = this.#index;
    this.#index = null;
    await index?.dispose();
  }

  protected async offerBest(queries: ReplayedQueries, k: number, tops: readonly TopSelection[]): Promise<void> {
    const { vectors, cutoff, list } = queries;
    await this.growTo(cutoff);
    const options = list === null ? {} : { visible: this.#listIds(list) };
    for (const [i, found] of (await (this.#index as VectorIndex).search(vectors, k, options)).entries())
      for (const { id, score } of found) tops[i]!.offer(this.#positionOf.get(id) as number, score);
  }

  #listIds(list: Int32Array): ReadonlySet<string> {
    const known = this.#idsOf.get(list);
    if (known !== undefined) return known;
    const ids = new Set(Array.from(list, (position) => this.turns.ids[position] as string));
    this.#idsOf.set(list, ids);
    return ids;
  }
}
