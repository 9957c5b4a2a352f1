import { DimensionMismatchError, ValidationError } from '../../../core/errors/errors.ts';
import { ignoreProgress, type StartProgress } from '../../../core/terminal/progress.ts';
import { createSerialRunner } from '../../../core/values/once.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../../../model/candidates.ts';
import type { VectorIndex } from '../../../model/vector-index.ts';
import {
  allocateCandidates,
  assertQueries,
  assertQueryVectors,
  assertUnitRows,
  orderByCutoff,
} from '../../candidates/query-batch.ts';

/** Rows that an index takes at once. */
const BLOCK = 1000;

/** The corpus that a live index replays. */
export interface ReplayedTurns {
  /** [N] in time order. */
  readonly ids: readonly string[];
  /** Row-major [N, D], of length 1 or zero. */
  readonly vectors: Float32Array;
  /** D. */
  readonly dimension: number;
}

/** A live index as an index of a time-ordered corpus, by replay. */
class CandidateReplay implements CandidateIndex {
  readonly name: string;
  readonly #turns: ReplayedTurns;
  readonly #open: () => Promise<VectorIndex>;
  readonly #positionOf: ReadonlyMap<string, number>;
  readonly #inTurn = createSerialRunner();
  /** The ids of a list of positions. Queries that share a list share its set. */
  readonly #visible = new WeakMap<Int32Array, ReadonlySet<string>>();
  #index: VectorIndex | null = null;
  #added = 0;
  #disposed = false;

  constructor(name: string, turns: ReplayedTurns, open: () => Promise<VectorIndex>) {
    if (turns.vectors.length !== turns.ids.length * turns.dimension)
      throw new DimensionMismatchError(
        `vectors of ${turns.ids.length} turns of dimension ${turns.dimension}`,
        turns.ids.length * turns.dimension,
        turns.vectors.length,
      );
    assertUnitRows(turns.vectors, turns.dimension, (row) => `turn ${turns.ids[row]}`);
    this.name = name;
    this.#turns = turns;
    this.#open = open;
    this.#positionOf = new Map(turns.ids.map((id, position) => [id, position]));
  }

  search(queries: QueryBatch, k: number, progress: StartProgress = ignoreProgress): Promise<Candidates> {
    return this.#inTurn(() => this.#replay(queries, k, progress));
  }

  async #replay(queries: QueryBatch, k: number, progress: StartProgress): Promise<Candidates> {
    if (this.#disposed) throw new ValidationError(`index was disposed: ${this.name}; build a new index`);
    const { ids, dimension } = this.#turns;
    assertQueries(queries, ids.length, k);
    assertQueryVectors(queries, dimension);
    const { cutoffs, vectors } = queries;
    const candidates = allocateCandidates(cutoffs.length, k);
    const stage = progress(this.name, cutoffs.length);
    for (const [done, query] of orderByCutoff(cutoffs).entries()) {
      const index = await this.#growTo(cutoffs[query]!);
      const visible = this.#listVisible(queries.visible?.[query]);
      const vector = vectors.slice(query * dimension, (query + 1) * dimension);
      const [found] = await index.search(vector, k, visible === undefined ? {} : { visible });
      for (const [slot, { id, score }] of found!.entries()) {
        candidates.positions[query * k + slot] = this.#positionOf.get(id) as number;
        candidates.scores[query * k + slot] = score;
      }
      stage.update(done + 1);
    }
    stage.finish(`${cutoffs.length} queries`);
    return candidates;
  }

  #listVisible(positions: Int32Array | null | undefined): ReadonlySet<string> | undefined {
    if (positions === null || positions === undefined) return undefined;
    const known = this.#visible.get(positions);
    if (known !== undefined) return known;
    const ids = new Set(Array.from(positions, (position) => this.#turns.ids[position] as string));
    this.#visible.set(positions, ids);
    return ids;
  }

  /** The index of the turns before the cutoff; emptied, or opened again, where it holds later ones. */
  async #growTo(cutoff: number): Promise<VectorIndex> {
    if (this.#added > cutoff) await this.#empty();
    this.#index ??= await this.#open();
    const { ids, vectors, dimension } = this.#turns;
    while (this.#added < cutoff) {
      const end = Math.min(cutoff, this.#added + BLOCK);
      const positions = Array.from({ length: end - this.#added }, (_, i) => this.#added + i);
      await this.#index.upsert(
        positions.map((position) => ({
          id: ids[position] as string,
          vector: vectors.subarray(position * dimension, (position + 1) * dimension),
        })),
      );
      this.#added = end;
    }
    return this.#index;
  }

  async #empty(): Promise<void> {
    if (this.#index?.clear === undefined) return this.#close();
    await this.#index.clear();
    this.#added = 0;
  }

  async #close(): Promise<void> {
    const index = this.#index;
    this.#index = null;
    this.#added = 0;
    await index?.dispose();
  }

  dispose(): void {
    this.#disposed = true;
    void this.#inTurn(() => this.#close()).catch(() => {}); // nothing that anyone needs is lost
  }
}

/**
 * A live index as an index of a time-ordered corpus: queries are answered in the order of their cutoffs, and turns are added as the replay passes them, so that
 * the index holds exactly the turns that each query may see.
 *
 * @param open opens an empty index with distance `cosine`; called again where a query needs an earlier state than the one at hand.
 * @throws DimensionMismatchError for vectors that do not fit the ids; NotFiniteError, ValidationError for one that is neither of length 1 nor zero.
 */
export function asCandidateIndex(name: string, turns: ReplayedTurns, open: () => Promise<VectorIndex>): CandidateIndex {
  return new CandidateReplay(name, turns, open);
}
