import { LRUCache } from 'lru-cache';
import type { CandidateIndex } from '../../model/candidates.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { VectorIndex } from '../../model/vector-index.ts';

/** The hits and misses of a cache of slices. */
export interface CacheUse {
  readonly hits: number;
  readonly misses: number;
}

/**
 * The slices that were asked for last, by what they depend on. The least recently used one makes place for a new one.
 */
export class SliceCache {
  readonly #kept: LRUCache<string, readonly string[]> | null;
  #hits = 0;
  #misses = 0;

  /** @param maxEntries 0 keeps nothing. */
  constructor(maxEntries: number) {
    this.#kept = maxEntries === 0 ? null : new LRUCache({ max: maxEntries });
  }

  get use(): CacheUse {
    return { hits: this.#hits, misses: this.#misses };
  }

  /** The ids of a slice, walked if they are not kept. An error is not kept. */
  getOrWalk(key: string, walk: () => readonly string[]): readonly string[] {
    const kept = this.#kept?.get(key);
    if (kept !== undefined) {
      this.#hits++;
      return kept;
    }
    const ids = walk();
    this.#misses++;
    this.#kept?.set(key, ids);
    return ids;
  }
}

/** A query, as the search and the reranking of a client see it. */
export interface ScopedQuery {
  readonly queryId: string;
  readonly text: string;
  /** [D]; empty for an index that compares no vectors. */
  readonly vector: Float32Array;
}

/** The turns that a query may see: a copy for one search. */
export interface AllowedTurns {
  /** Corpus positions, ascending. */
  readonly positions: Int32Array;
  readonly turnIds: ReadonlySet<string>;
  /** How many turns of the corpus are strictly earlier than the query. */
  readonly cutoff: number;
}

/** A turn that was found. */
export interface ScopedTurn {
  readonly turnId: string;
  /** Finite; higher is better. */
  readonly score: number;
}

/** Finds at most k of the allowed turns, best first. */
export type SliceSearch = (
  query: ScopedQuery,
  allowed: AllowedTurns,
  k: number,
  signal?: AbortSignal,
) => Promise<readonly ScopedTurn[]>;

/** Searches a candidate index over a corpus; the allowed turns are its list of visible turns. */
export function searchCandidates(index: CandidateIndex, corpus: Corpus): SliceSearch {
  return async ({ queryId, text, vector }, { positions, cutoff }, k) => {
    const batch = { ids: [queryId], texts: [text], vectors: vector, cutoffs: Int32Array.of(cutoff) };
    const found = await index.search({ ...batch, visible: [positions] }, k);
    return [...found.positions].flatMap((position, i) => {
      const turn = corpus.turns[position];
      return turn === undefined ? [] : [{ turnId: turn.id, score: found.scores[i] as number }];
    });
  };
}

/** Searches an index whose vectors come and go; its rows have the ids of turns. */
export function searchVectors(index: VectorIndex): SliceSearch {
  return async ({ vector }, { turnIds }, k, signal) => {
    const [matches = []] = await index.search(vector, k, { visible: turnIds, ...(signal && { signal }) });
    return matches.map(({ id, score }) => ({ turnId: id, score }));
  };
}
